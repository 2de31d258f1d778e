// Lines over payload sizes, drawn as SVG.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace strata::measure {

struct plot_line {
  std::string name;
  std::vector<std::pair<double, double>> points;  ///< payload and value, by payload
};

struct plot {
  std::string title;
  std::string unit;             ///< of the values, for the axis
  bool is_logarithmic = false;  ///< values; payloads always are
  std::vector<plot_line> lines;
};

/// A whole SVG document: axes with ticks, lines with their points, and a legend. Values that a
/// logarithmic axis cannot have are left out. The text is escaped.
[[nodiscard]] std::string draw(const plot& what);

}  // namespace strata::measure
