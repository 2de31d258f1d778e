// Line charts over payload sizes, drawn as SVG.
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
  std::string_view dash = {};      ///< SVG's stroke-dasharray; empty if none
  std::vector<plot_point> points;  ///< by payload
};

struct plot {
  std::string title;
  std::string unit;             ///< of the values, for the axis
  bool is_logarithmic = false;  ///< for values; payloads always are
  bool is_ratio = false;        ///< draws a thick line at 1
  std::vector<plot_line> lines;
};

/// Returns a whole SVG document: axes that begin and end with a tick, lines with their points and
/// the points' intervals, and a legend. Leaves out values that a logarithmic axis cannot have.
/// Escapes the text.
[[nodiscard]] std::string draw(const plot& plot);

}  // namespace strata::measure
