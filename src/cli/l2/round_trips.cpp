#include "cli/l2/round_trips.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>

namespace strata::cli {

std::string in_microseconds(double ns) { return fmt::format("{:.1f} us", ns / 1000); }

bool round_trips::take(std::uint64_t sequence, std::uint64_t took_ns) {
  if (sequence == 0 || sequence > seen_.size()) return false;
  if (seen_[sequence - 1]) {
    ++duplicates_;
    return false;
  }
  seen_[sequence - 1] = true;
  times_.record(took_ns);
  ++powers_[static_cast<std::size_t>(std::bit_width(took_ns))];
  least_ns_ = std::min(least_ns_, took_ns);
  most_ns_ = std::max(most_ns_, took_ns);
  sum_ns_ += static_cast<double>(took_ns);
  return true;
}

std::string round_trips::text() const {
  const auto part = sent_count() == 0
                        ? 0.0
                        : static_cast<double>(lost()) * 100 / static_cast<double>(sent_count());
  auto all = fmt::format("{} sent, {} received, {} lost ({:.1f} %), {} duplicates\n", sent_count(),
                         received(), lost(), part, duplicates_);
  if (refused_ != 0) all += fmt::format("{} did not leave this machine\n", refused_);
  if (received() == 0) return all;
  const auto last = static_cast<double>(most_ns_);
  return all + fmt::format("min {}, avg {}, max {}, p50 {}, p99 {}\n",
                           in_microseconds(static_cast<double>(least_ns_)),
                           in_microseconds(sum_ns_ / static_cast<double>(received())),
                           in_microseconds(last),
                           in_microseconds(std::min(times_.percentile(0.5), last)),
                           in_microseconds(std::min(times_.percentile(0.99), last)));
}

std::string round_trips::drawn() const {
  constexpr std::uint64_t width = 40;
  const auto most = *std::ranges::max_element(powers_);
  std::string all;
  for (std::size_t i = 0; i < powers_.size(); ++i) {
    const bool is_outside = i < static_cast<std::size_t>(std::bit_width(least_ns_)) ||
                            i > static_cast<std::size_t>(std::bit_width(most_ns_));
    if (received() == 0 || is_outside) continue;
    const double end = static_cast<double>(std::uint64_t{1} << std::min<std::size_t>(i, 63));
    const auto bar = (powers_[i] * width + most - 1) / most;
    all += fmt::format("< {:>13} |{:<{}}| {}\n", in_microseconds(end), std::string(bar, '#'), width,
                       powers_[i]);
  }
  return all;
}

nlohmann::json round_trips::json() const {
  nlohmann::json all{{"sent", sent_count()},
                     {"received", received()},
                     {"lost", lost()},
                     {"duplicates", duplicates_},
                     {"not_taken", refused_}};
  if (received() == 0) return all;
  const auto last = static_cast<double>(most_ns_);
  all["min_ns"] = least_ns_;
  all["avg_ns"] = sum_ns_ / static_cast<double>(received());
  all["max_ns"] = most_ns_;
  all["p50_ns"] = std::min(times_.percentile(0.5), last);
  all["p99_ns"] = std::min(times_.percentile(0.99), last);
  return all;
}

}  // namespace strata::cli
