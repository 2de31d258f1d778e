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
constexpr double right = 660;  // the legend is to the right of it
constexpr double top = 50;
constexpr double bottom = 460;
constexpr double margin = 16;  // for the points at either end

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

// Returns the last of 1, 2, 5, 10, 20, 50 … that is not above the value, or the first that is not
// below.
double round_step(double value, bool upwards) {
  const double decade = std::pow(10, std::floor(std::log10(value)));
  constexpr double exact = 1e-9;
  double below = decade;
  for (const double step : {1.0, 2.0, 5.0, 10.0}) {
    const double tick = step * decade;
    if (upwards && tick >= value * (1 - exact)) return tick;
    if (tick <= value * (1 + exact)) below = tick;
  }
  return below;
}

// An axis that begins and ends with a tick.
class axis {
 public:
  axis(double least, double most, double start, double end, bool is_logarithmic)
      : least_(least), most_(most), from_(start), to_(end), is_logarithmic_(is_logarithmic) {
    if (is_logarithmic_) {
      least_ = round_step(least_, false);
      most_ = round_step(most_, true);
      // A single value is centered.
      if (least_ == most_) {
        least_ = round_step(least_ / 2, false);
        most_ = round_step(most_ * 2, true);
      }
      return;
    }
    if (least_ == most_) most_ = least_ + 1;
    step_ = round_step((most_ - least_) / 8, true);
    least_ = std::floor(least_ / step_) * step_;
    most_ = std::ceil(most_ / step_) * step_;
  }
  [[nodiscard]] double at(double value) const {
    const double part = is_logarithmic_ ? std::log(value / least_) / std::log(most_ / least_)
                                        : (value - least_) / (most_ - least_);
    return from_ + part * (to_ - from_);
  }
  [[nodiscard]] std::vector<double> ticks() const {
    std::vector<double> made{least_};
    constexpr double slightly = 1.001;
    while (made.back() * slightly < most_) {
      made.push_back(is_logarithmic_ ? round_step(made.back() * slightly, true)
                                     : made.back() + step_);
    }
    return made;
  }

 private:
  double least_;
  double most_;
  double from_;
  double to_;
  bool is_logarithmic_;
  double step_ = 1;
};

bool can_be_drawn(const plot& plot, const plot_point& point) {
  const auto fits = [&](double value) {
    return std::isfinite(value) && (plot.is_logarithmic ? value > 0 : value >= 0);
  };
  return point.payload > 0 && fits(point.value) && fits(point.low) && fits(point.high);
}

struct extent {
  double least_payload = 1e18, most_payload = 0, least = 1e300, most = 0;
};

extent extent_of(const plot& plot) {
  extent found;
  for (const auto& line : plot.lines) {
    for (const auto& point : line.points) {
      if (!can_be_drawn(plot, point)) continue;
      found.least_payload = std::min(found.least_payload, point.payload);
      found.most_payload = std::max(found.most_payload, point.payload);
      found.least = std::min(found.least, point.low);
      found.most = std::max(found.most, point.high);
    }
  }
  if (found.most_payload == 0) found = {1, 10000, 1, 10};
  if (plot.is_ratio) {
    found.least = std::min(found.least, 1.0);
    found.most = std::max(found.most, 1.0);
  }
  // A linear axis begins at 0, so that heights can be compared.
  if (!plot.is_logarithmic) found.least = 0;
  return found;
}

std::string axes(const plot& plot, const axis& x, const axis& y) {
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
      escaped(plot.unit), plot.is_logarithmic ? " (logarithmic)" : "");
  return out;
}

// Draws the points slightly beside those of the other lines, so that intervals are visible.
std::string line_of(const plot& plot, const plot_line& line, const axis& x, const axis& y,
                    double beside) {
  std::string way;
  std::string dots;
  for (const auto& point : line.points) {
    if (!can_be_drawn(plot, point)) continue;
    const double at_x = x.at(point.payload) + beside;
    const double at_y = y.at(point.value);
    way += fmt::format("{}{:.1f} {:.1f}", way.empty() ? "M" : "L", at_x, at_y);
    if (point.low < point.high) {
      dots += fmt::format(
          "<path class=\"interval\" d=\"M{0:.1f} {1:.1f}H{2:.1f}M{3:.1f} {1:.1f}V{4:.1f}M{0:.1f} "
          "{4:.1f}H{2:.1f}\" fill=\"none\" stroke=\"{5}\"/>\n",
          at_x - 3, y.at(point.low), at_x + 3, at_x, y.at(point.high), line.colour);
    }
    dots += fmt::format(
        "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"{}\"><title>{}: {} ({} to {}) at {:g} "
        "B</title></circle>\n",
        at_x, at_y, line.colour, escaped(line.name), short_number(point.value),
        short_number(point.low), short_number(point.high), point.payload);
  }
  return fmt::format(
      "<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\" stroke-dasharray=\"{}\"/>\n{}",
      way, line.colour, line.dash, dots);
}

}  // namespace

std::string draw(const plot& plot) {
  const auto found = extent_of(plot);
  const axis x(found.least_payload, found.most_payload, left + margin, right - margin, true);
  const axis y(found.least, found.most, bottom, top, plot.is_logarithmic);
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
      "viewBox=\"0 0 {0} {1}\" font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n"
      "<text x=\"{2}\" y=\"22\" font-size=\"16\">{3}</text>\n",
      width, height, left - 60, escaped(plot.title));
  out += axes(plot, x, y);
  if (plot.is_ratio) {
    out += fmt::format(
        "<line x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#333\" "
        "stroke-width=\"1.5\"/>\n",
        left, right, y.at(1), y.at(1));
  }
  const auto count = static_cast<double>(plot.lines.size());
  for (std::size_t i = 0; i < plot.lines.size(); ++i) {
    const auto& line = plot.lines[i];
    const double step = std::min(5.0, 20 / count);
    out += line_of(plot, line, x, y, (static_cast<double>(i) - (count - 1) / 2) * step);
    const double at = top + 14 + 20 * static_cast<double>(i);
    out += fmt::format(
        "<line x1=\"{}\" x2=\"{}\" y1=\"{}\" y2=\"{}\" stroke=\"{}\" stroke-width=\"2\" "
        "stroke-dasharray=\"{}\"/>\n<text x=\"{}\" y=\"{}\">{}</text>\n",
        right + 20, right + 50, at, at, line.colour, line.dash, right + 58, at + 4,
        escaped(line.name));
  }
  return out + "</svg>\n";
}

}  // namespace strata::measure
