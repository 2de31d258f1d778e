#include "cli/l2/time_spread.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>

namespace strata::cli {

std::string in_microseconds(double ns) { return fmt::format("{:.1f} us", ns / 1000); }

void time_spread::record(std::uint64_t ns) {
  times_.record(ns);
  ++powers_[static_cast<std::size_t>(std::bit_width(ns))];
  least_ns_ = std::min(least_ns_, ns);
  most_ns_ = std::max(most_ns_, ns);
  sum_ns_ += static_cast<double>(ns);
}

double time_spread::part_ns(double part) const {
  return std::min(times_.percentile(part), static_cast<double>(most_ns_));
}

std::string time_spread::text(bool to_a_thousandth) const {
  if (total() == 0) return {};
  auto all = fmt::format(
      "min {}, avg {}, max {}, p50 {}, p99 {}", in_microseconds(static_cast<double>(least_ns_)),
      in_microseconds(average_ns()), in_microseconds(static_cast<double>(most_ns_)),
      in_microseconds(part_ns(0.5)), in_microseconds(part_ns(0.99)));
  if (to_a_thousandth) all += fmt::format(", p99.9 {}", in_microseconds(part_ns(0.999)));
  return all;
}

std::string time_spread::drawn() const {
  constexpr std::uint64_t width = 40;
  const auto most = *std::ranges::max_element(powers_);
  std::string all;
  for (std::size_t i = 0; i < powers_.size(); ++i) {
    const bool is_outside = i < static_cast<std::size_t>(std::bit_width(least_ns_)) ||
                            i > static_cast<std::size_t>(std::bit_width(most_ns_));
    if (total() == 0 || is_outside) continue;
    const double end = static_cast<double>(std::uint64_t{1} << std::min<std::size_t>(i, 63));
    const auto bar = (powers_[i] * width + most - 1) / most;
    all += fmt::format("< {:>13} |{:<{}}| {}\n", in_microseconds(end), std::string(bar, '#'), width,
                       powers_[i]);
  }
  return all;
}

void time_spread::put_into(nlohmann::json& value, bool to_a_thousandth) const {
  if (total() == 0) return;
  value["min_ns"] = least_ns_;
  value["avg_ns"] = average_ns();
  value["max_ns"] = most_ns_;
  value["p50_ns"] = part_ns(0.5);
  value["p99_ns"] = part_ns(0.99);
  if (to_a_thousandth) value["p99_9_ns"] = part_ns(0.999);
}

}  // namespace strata::cli
