// Lines over payload sizes, drawn as SVG.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace strata::measure {

struct plot_point {
  double payload = 0;
  double value = 0;
  double low = value;  ///< of its interval
  double high = value;
};

struct plot_line {
  std::string name;
  std::string_view colour = "#333333";
  std::string_view dash = {};      ///< as SVG's stroke-dasharray; empty: none
  std::vector<plot_point> points;  ///< by payload
};

struct plot {
  std::string title;
  std::string unit;             ///< of the values, for the axis
  bool is_logarithmic = false;  ///< values; payloads always are
  bool is_ratio = false;        ///< then a thick line stands at 1
  std::vector<plot_line> lines;
};

/// A whole SVG document: axes that begin and end with a tick, lines with their points and the
/// points' intervals, and a legend. Values that a logarithmic axis cannot have are left out. The
/// text is escaped.
[[nodiscard]] std::string draw(const plot& plot);

}  // namespace strata::measure
