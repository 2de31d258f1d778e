#include "options/latency.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace strata::options {

namespace {

constexpr std::array<std::uint64_t, 16> first_decade_us = {10, 12, 14, 16, 18, 20, 25, 30,
                                                           35, 40, 45, 50, 60, 70, 80, 90};
constexpr std::array<std::uint64_t, 18> shown_us = {
    100,     250,     500,     1'000,     2'500,     5'000,     10'000,     25'000,     50'000,
    100'000, 250'000, 500'000, 1'000'000, 2'500'000, 5'000'000, 10'000'000, 25'000'000, 50'000'000};

double in_ms(std::uint64_t us) { return static_cast<double>(us) / 1000; }

}  // namespace

const std::array<std::uint64_t, latency::steps>& latency::ends_us() {
  static constexpr auto ends = [] {
    std::array<std::uint64_t, steps> made{};
    std::uint64_t scale = 1;
    for (std::size_t decade = 0; decade < decades; ++decade, scale *= 10) {
      for (std::size_t at = 0; at < steps_a_decade; ++at) {
        made[decade * steps_a_decade + at] = first_decade_us[at] * scale;
      }
    }
    return made;
  }();
  return ends;
}

std::span<const std::uint64_t> latency::bounds_us() { return shown_us; }

void latency::add(std::uint64_t us) {
  const auto& ends = ends_us();
  const auto step = std::ranges::lower_bound(ends, us) - ends.begin();
  counts_[static_cast<std::size_t>(step)].add();
  sum_us_.add(us);
  max_us_.raise(us);
}

void latency::add(const latency& part) {
  for (std::size_t at = 0; at < counts_.size(); ++at) counts_[at].add(part.counts_[at].get());
  sum_us_.add(part.sum_us());
  max_us_.raise(part.max_us());
}

std::uint64_t latency::count() const {
  std::uint64_t sum = 0;
  for (const auto& each : counts_) sum += each.get();
  return sum;
}

std::uint64_t latency::percentile_us(double part) const {
  const auto wanted = std::max(1.0, std::ceil(part * static_cast<double>(count())));
  std::uint64_t seen = 0;
  for (std::size_t at = 0; at < steps; ++at) {
    seen += counts_[at].get();
    if (static_cast<double>(seen) >= wanted) return std::min(ends_us()[at], max_us());
  }
  return max_us();
}

std::uint64_t latency::count_within(std::uint64_t us) const {
  std::uint64_t sum = 0;
  for (std::size_t at = 0; at < steps && ends_us()[at] <= us; ++at) sum += counts_[at].get();
  return sum;
}

nlohmann::json to_json(const latency& latency) {
  auto within = nlohmann::json::object();
  for (const auto us : latency::bounds_us()) {
    within[fmt::format("{}", in_ms(us))] = latency.count_within(us);
  }
  return {{"count", latency.count()},
          {"sum_ms", in_ms(latency.sum_us())},
          {"p50_ms", in_ms(latency.percentile_us(0.5))},
          {"p90_ms", in_ms(latency.percentile_us(0.9))},
          {"p99_ms", in_ms(latency.percentile_us(0.99))},
          {"max_ms", in_ms(latency.max_us())},
          {"within_ms", std::move(within)}};
}

}  // namespace strata::options
