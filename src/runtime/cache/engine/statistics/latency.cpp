#include "runtime/cache/engine/statistics/latency.hpp"

#include <algorithm>

namespace strata::runtime::cache {

namespace {

constexpr std::size_t most_samples = 160;

// The first step is about a microsecond. Redis keeps two digits of each time, so a step extends
// slightly beyond its power of two.
constexpr unsigned first_power = 10;
constexpr std::uint64_t limit_ns(std::size_t step) {
  const auto power = first_power + step;
  return (std::uint64_t{1} << power) + (std::uint64_t{1} << (power - 7)) - 1;
}
constexpr std::size_t most_steps = 40;

}  // namespace

void latency_log::add(std::string_view event, std::int64_t time_s, std::int64_t ms) {
  auto& of = events_[std::string(event)];
  of.worst_ms = std::max(of.worst_ms, ms);
  if (!of.samples.empty() && of.samples.back().time_s == time_s) {
    of.samples.back().ms = std::max(of.samples.back().ms, ms);
    return;
  }
  of.samples.push_back({time_s, ms});
  if (of.samples.size() > most_samples) of.samples.pop_front();
}

const latency_log::history* latency_log::find(std::string_view event) const {
  const auto found = events_.find(event);
  return found == events_.end() ? nullptr : &found->second;
}

bool latency_log::forget(std::string_view event) {
  const auto found = events_.find(event);
  if (found == events_.end()) return false;
  events_.erase(found);
  return true;
}

void time_histogram::add(std::uint64_t us) {
  std::size_t at = 0;
  while (at + 1 < most_steps && us * 1000 > limit_ns(at)) ++at;
  if (counts_.size() <= at) counts_.resize(at + 1);
  ++counts_[at];
  ++calls_;
}

std::uint64_t time_histogram::most_us(double part) const {
  const auto all = steps();
  const auto found = std::ranges::find_if(all, [&](const step& each) {
    return static_cast<double>(each.calls) >= part * static_cast<double>(calls_);
  });
  return found == all.end() ? 0 : found->most_us;
}

std::vector<time_histogram::step> time_histogram::steps() const {
  std::vector<step> all;
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    if (counts_[i] == 0) continue;
    sum += counts_[i];
    all.push_back({limit_ns(i) / 1000, sum});
  }
  return all;
}

}  // namespace strata::runtime::cache
