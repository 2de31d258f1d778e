#include "measure/report/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "measure/report/table.hpp"

namespace strata::measure {

namespace {

constexpr double width = 900;
constexpr double height = 520;
constexpr double left = 80;
constexpr double right = 660;  // the legend stands behind it
constexpr double top = 50;
constexpr double bottom = 460;

// Told apart by the colour-blind too (Okabe and Ito), and by dashes when they come round again.
constexpr std::string_view colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                        "#e69f00", "#56b4e9", "#000000"};
constexpr std::string_view dashes[] = {"", "7 4", "2 3"};

std::string escaped(std::string_view text) {
  std::string made;
  for (const char letter : text) {
    switch (letter) {
      case '&': made += "&amp;"; break;
      case '<': made += "&lt;"; break;
      case '>': made += "&gt;"; break;
      case '"': made += "&quot;"; break;
      default: made += letter;
    }
  }
  return made;
}

class axis {
 public:
  axis(double least, double most, double from, double to, bool is_logarithmic)
      : least_(least), most_(most), from_(from), to_(to), is_logarithmic_(is_logarithmic) {
    // A single value stands in the middle.
    if (least_ == most_) {
      least_ = is_logarithmic_ ? least_ / 2 : least_ - 1;
      most_ = is_logarithmic_ ? most_ * 2 : most_ + 1;
    }
  }
  [[nodiscard]] double at(double value) const {
    const double part = is_logarithmic_ ? std::log(value / least_) / std::log(most_ / least_)
                                        : (value - least_) / (most_ - least_);
    return from_ + part * (to_ - from_);
  }
  [[nodiscard]] std::vector<double> ticks() const {
    std::vector<double> made;
    if (is_logarithmic_) {
      const int first = static_cast<int>(std::floor(std::log10(least_)));
      const int last = static_cast<int>(std::floor(std::log10(most_)));
      for (int exponent = first; exponent <= last; ++exponent) {
        for (const double step : {1.0, 2.0, 5.0}) {
          const double tick = step * std::pow(10, exponent);
          if (tick >= least_ && tick <= most_) made.push_back(tick);
        }
      }
      return made;
    }
    const double rough = (most_ - least_) / 8;
    const double decade = std::pow(10, std::floor(std::log10(rough)));
    const double step = decade * (rough < 2 * decade ? 2 : rough < 5 * decade ? 5 : 10);
    const auto first = static_cast<long>(std::ceil(least_ / step));
    const auto last = static_cast<long>(std::floor(most_ / step));
    for (auto at = first; at <= last; ++at) made.push_back(static_cast<double>(at) * step);
    return made;
  }

 private:
  double least_;
  double most_;
  double from_;
  double to_;
  bool is_logarithmic_;
};

bool can_be_drawn(const plot& what, const std::pair<double, double>& point) {
  return point.first > 0 && std::isfinite(point.second) &&
         (what.is_logarithmic ? point.second > 0 : point.second >= 0);
}

struct extent {
  double least_payload = 1e18, most_payload = 0, least = 1e300, most = 0;
};

extent extent_of(const plot& what) {
  extent found;
  for (const auto& line : what.lines) {
    for (const auto& point : line.points) {
      if (!can_be_drawn(what, point)) continue;
      found.least_payload = std::min(found.least_payload, point.first);
      found.most_payload = std::max(found.most_payload, point.first);
      found.least = std::min(found.least, point.second);
      found.most = std::max(found.most, point.second);
    }
  }
  if (found.most_payload == 0) found = {1, 10000, 1, 10};
  // A linear axis begins at nothing, so that heights can be compared.
  if (!what.is_logarithmic) found.least = 0;
  return found;
}

std::string axes(const plot& what, const axis& x, const axis& y) {
  std::string out;
  for (const double tick : y.ticks()) {
    out += fmt::format(
        "<line x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#ddd\"/>\n"
        "<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n",
        left, right, y.at(tick), y.at(tick), left - 8, y.at(tick) + 4, short_number(tick));
  }
  for (const double tick : x.ticks()) {
    out += fmt::format(
        "<line x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{}\" y2=\"{}\" stroke=\"#ddd\"/>\n"
        "<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{:g}</text>\n",
        x.at(tick), x.at(tick), top, bottom, x.at(tick), bottom + 18, tick);
  }
  out += fmt::format(
      "<path d=\"M{} {}V{}H{}\" fill=\"none\" stroke=\"#333\"/>\n"
      "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">payload, bytes (logarithmic)</text>\n"
      "<text x=\"{}\" y=\"{}\">{}{}</text>\n",
      left, top, bottom, right, (left + right) / 2, bottom + 42, left - 60, top - 12,
      escaped(what.unit), what.is_logarithmic ? " (logarithmic)" : "");
  return out;
}

std::string line_of(const plot& what, const plot_line& line, const axis& x, const axis& y,
                    std::string_view colour, std::string_view dash) {
  std::string way;
  std::string dots;
  for (const auto& point : line.points) {
    if (!can_be_drawn(what, point)) continue;
    const double at_x = x.at(point.first);
    const double at_y = y.at(point.second);
    way += fmt::format("{}{:.1f} {:.1f}", way.empty() ? "M" : "L", at_x, at_y);
    dots += fmt::format(
        "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"{}\"><title>{}: {} at {:g} "
        "B</title></circle>\n",
        at_x, at_y, colour, escaped(line.name), short_number(point.second), point.first);
  }
  return fmt::format(
      "<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\" stroke-dasharray=\"{}\"/>\n{}",
      way, colour, dash, dots);
}

}  // namespace

std::string draw(const plot& what) {
  const auto found = extent_of(what);
  const axis x(found.least_payload, found.most_payload, left, right, true);
  const axis y(found.least, found.most, bottom, top, what.is_logarithmic);
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
      "viewBox=\"0 0 {0} {1}\" font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n"
      "<text x=\"{2}\" y=\"22\" font-size=\"16\">{3}</text>\n",
      width, height, left - 60, escaped(what.title));
  out += axes(what, x, y);
  for (std::size_t i = 0; i < what.lines.size(); ++i) {
    const auto colour = colours[i % std::size(colours)];
    const auto dash = dashes[i / std::size(colours) % std::size(dashes)];
    out += line_of(what, what.lines[i], x, y, colour, dash);
    const double at = top + 14 + 20 * static_cast<double>(i);
    out += fmt::format(
        "<line x1=\"{}\" x2=\"{}\" y1=\"{}\" y2=\"{}\" stroke=\"{}\" stroke-width=\"2\" "
        "stroke-dasharray=\"{}\"/>\n<text x=\"{}\" y=\"{}\">{}</text>\n",
        right + 20, right + 50, at, at, colour, dash, right + 58, at + 4,
        escaped(what.lines[i].name));
  }
  return out + "</svg>\n";
}

}  // namespace strata::measure
