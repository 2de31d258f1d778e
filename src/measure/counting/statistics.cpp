#include "measure/counting/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace strata::measure {

double quantile(std::span<const double> samples, double part) {
  if (samples.empty()) return 0;
  std::vector<double> sorted(samples.begin(), samples.end());
  std::ranges::sort(sorted);
  const double at = part * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const auto above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - std::floor(at)) * (sorted[above] - sorted[below]);
}

double median(std::span<const double> samples) { return quantile(samples, 0.5); }

double relative_spread(std::span<const double> samples) {
  const double middle = median(samples);
  if (samples.size() < 2 || middle <= 0) return 1;
  const double sigma = (quantile(samples, 0.75) - quantile(samples, 0.25)) / 1.35;
  return 1.25 * sigma / std::sqrt(static_cast<double>(samples.size())) / middle;
}

}  // namespace strata::measure
