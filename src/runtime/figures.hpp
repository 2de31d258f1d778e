// The figures that every runtime has, as rows. A new one is a counter in `statistics`, a row in
// figures.cpp, and the place that counts it; what a type alone counts stands in a table of its own.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "options/figure_table.hpp"
#include "runtime/counters.hpp"

namespace strata::runtime {

/// Figures of several things inside a runtime, such as the backends of a proxy.
struct detail_row {
  std::string_view key;                      ///< of the array in the statistics' JSON: `backends`
  std::span<const std::string_view> labels;  ///< what tells one of the things from another
  std::span<const options::figure_row> figures;
};

[[nodiscard]] const std::vector<options::bound_figure<statistics>>& common_figures();
[[nodiscard]] const std::vector<options::figure_row>& common_figure_rows();

}  // namespace strata::runtime
