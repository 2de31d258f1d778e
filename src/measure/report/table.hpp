// The findings as tables of text: rows of cells, which the terminal and the Markdown report lay
// out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "measure/counting/statistics.hpp"
#include "measure/report/document.hpp"
#include "measure/run/experiment.hpp"

namespace strata::measure {

struct table {
  std::string title;
  std::vector<std::vector<std::string>> rows;  ///< the first holds the headings
};

/// Returns all tables that have rows; failed measurements are included. Figures begin in column 2.
[[nodiscard]] std::vector<table> tables_of(const findings& findings);

/// Formats with three significant digits: 1234567 as "1.23M", 0.0123 as "0.0123".
[[nodiscard]] std::string short_number(double value);

/// Returns the median, and the interval in parentheses if there is one: "2.61 (2.34 to 2.88)".
[[nodiscard]] std::string with_interval(const estimate& figure);

/// Returns why there is no table of cycles and instructions; empty if there is one.
[[nodiscard]] std::string missing_events(const findings& findings);

/// Returns a sentence that explains the figures in parentheses.
[[nodiscard]] std::string meaning_of_intervals(std::uint64_t runs);

}  // namespace strata::measure
