// The figures that every runtime has, as rows. A new one is a counter in `statistics`, a row in
// figures.cpp, and the place that counts it; what a type alone counts stands in a table of its own.
#pragma once

#include <vector>

#include "options/figure_table.hpp"
#include "runtime/counters.hpp"

namespace strata::runtime {

[[nodiscard]] const std::vector<options::bound_figure<statistics>>& common_figures();
[[nodiscard]] const std::vector<options::figure_row>& common_figure_rows();

}  // namespace strata::runtime
