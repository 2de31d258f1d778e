// Findings as tables of text: rows of cells, which the terminal and the Markdown report lay out.
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

/// All that were measured, those that could not be included. Figures stand from column 2 on.
[[nodiscard]] std::vector<table> tables_of(const findings& findings);

/// 1234567 as "1.23M", 0.0123 as "0.0123": three significant digits.
[[nodiscard]] std::string short_number(double value);

/// The median, and the interval in parentheses if it is one: "2.61 (2.34 to 2.88)".
[[nodiscard]] std::string with_interval(const estimate& figure);

/// Why there is no table of cycles and instructions; empty if there is one.
[[nodiscard]] std::string missing_events(const findings& findings);

/// What the figures in parentheses are, in a sentence.
[[nodiscard]] std::string meaning_of_intervals(std::uint64_t runs);

}  // namespace strata::measure
