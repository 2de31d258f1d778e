// Findings as tables of text: rows of cells, which the terminal and the Markdown report lay out.
#pragma once

#include <string>
#include <vector>

#include "measure/report/document.hpp"
#include "measure/run/experiment.hpp"

namespace strata::measure {

struct table {
  std::string title;
  std::vector<std::vector<std::string>> rows;  ///< the first holds the headings
};

/// All that were measured, those that could not be included. Figures stand from column 2 on.
[[nodiscard]] std::vector<table> tables_of(const findings& of);

/// 1234567 as "1.23M", 0.0123 as "0.0123": three significant digits.
[[nodiscard]] std::string short_number(double value);

}  // namespace strata::measure
