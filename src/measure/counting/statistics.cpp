#include "measure/counting/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace strata::measure {

namespace {

std::vector<double> sorted_copy(std::span<const double> samples) {
  std::vector<double> sorted(samples.begin(), samples.end());
  std::ranges::sort(sorted);
  return sorted;
}

// Returns the confidence of the interval that leaves out `outside` samples at each end.
double confidence_without(std::size_t runs, std::size_t outside) {
  double chance = std::pow(0.5, static_cast<double>(runs));  // of exactly `i` samples below the
                                                             // median
  double below = 0;
  for (std::size_t i = 0; i <= outside; ++i) {
    below += chance;
    chance *= static_cast<double>(runs - i) / static_cast<double>(i + 1);
  }
  return std::max(0.0, 1 - 2 * below);
}

std::size_t most_outside(std::size_t runs) {
  std::size_t outside = 0;
  while (2 * (outside + 1) < runs && confidence_without(runs, outside + 1) >= least_confidence) {
    ++outside;
  }
  return outside;
}

template <class Combine>
estimate combined(std::span<const double> one, std::span<const double> other, Combine combine) {
  std::vector<double> each;
  for (std::size_t i = 0; i < std::min(one.size(), other.size()); ++i) {
    each.push_back(combine(one[i], other[i]));
  }
  return estimate_of(each);
}

}  // namespace

double quantile(std::span<const double> samples, double part) {
  if (samples.empty()) return 0;
  const auto sorted = sorted_copy(samples);
  const double at = part * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const auto above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - std::floor(at)) * (sorted[above] - sorted[below]);
}

double median(std::span<const double> samples) { return quantile(samples, 0.5); }

estimate estimate_of(std::span<const double> samples) {
  if (samples.empty()) return {};
  const auto sorted = sorted_copy(samples);
  const auto outside = most_outside(sorted.size());
  return {.median = median(samples),
          .low = sorted[outside],
          .high = sorted[sorted.size() - 1 - outside],
          .runs = sorted.size()};
}

estimate ratio_of(std::span<const double> samples, std::span<const double> to) {
  return combined(samples, to,
                  [](double one, double other) { return other == 0 ? 0 : one / other; });
}

estimate difference_of(std::span<const double> samples, std::span<const double> less) {
  return combined(samples, less, [](double one, double other) { return one - other; });
}

double confidence_of(std::size_t runs) {
  return runs == 0 ? 0 : confidence_without(runs, most_outside(runs));
}

std::string_view name_of(ruling ruling) {
  switch (ruling) {
    case ruling::reached: return "reached";
    case ruling::missed: return "missed";
    case ruling::undecided: return "undecided";
  }
  return "";
}

ruling decide(const estimate& figure, bool at_least, double bound) {
  if (figure.runs < least_runs) return ruling::undecided;
  const bool is_reached = at_least ? figure.low >= bound : figure.high <= bound;
  if (is_reached) return ruling::reached;
  const bool is_missed = at_least ? figure.high < bound : figure.low > bound;
  return is_missed ? ruling::missed : ruling::undecided;
}

}  // namespace strata::measure
