// The figures of every runtime, as rows. A new one needs a counter in `statistics`, a row in
// figures.cpp, and code that counts; figures of a single type are in a table of its own.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "options/figure_table.hpp"
#include "runtime/counters.hpp"

namespace strata::runtime {

/// Figures of objects within a runtime, such as the backends of a proxy.
struct detail_row {
  std::string_view key;                      ///< the array in the statistics' JSON: `backends`
  std::span<const std::string_view> labels;  ///< labels that identify an object
  std::span<const options::figure_row> figures;
};

[[nodiscard]] const std::vector<options::bound_figure<statistics>>& common_figures();
[[nodiscard]] const std::vector<options::figure_row>& common_figure_rows();

}  // namespace strata::runtime
