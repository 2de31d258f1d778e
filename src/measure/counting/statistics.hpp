// Statistics of repeated measurements, with their confidence.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace strata::measure {

/// 0 without samples. For an even number, the mean of the middle pair.
[[nodiscard]] double median(std::span<const double> samples);

/// Interpolates linearly between neighbouring samples; `part` is 0 to 1. 0 without samples.
[[nodiscard]] double quantile(std::span<const double> samples, double part);

/// The median of a figure's runs, and a confidence interval for the median of all possible runs: it
/// extends from one sample to another, with as many samples below the first as above the second.
/// Assumes nothing about the distribution of the samples, only that runs are independent.
struct estimate {
  double median = 0;
  double low = 0;
  double high = 0;
  std::size_t runs = 0;
};

/// Returns the narrowest such interval whose confidence is at least `least_confidence`; if there is
/// none, the interval from the least to the greatest sample. All 0 without samples.
[[nodiscard]] estimate estimate_of(std::span<const double> samples);

/// Estimates from the ratio (or difference) within each run, so that a slow run as a whole has no
/// effect. Both have the same number of samples, in the same order of runs.
[[nodiscard]] estimate ratio_of(std::span<const double> samples, std::span<const double> to);
[[nodiscard]] estimate difference_of(std::span<const double> samples, std::span<const double> less);

inline constexpr double least_confidence = 0.9;
/// The least number of runs for an interval of this confidence.
inline constexpr std::size_t least_runs = 5;

/// Returns the probability that the interval of `runs` runs holds the median: 1 - 2 P(B <= k),
/// where B is binomial (runs, 1/2) and k samples lie outside at each end.
[[nodiscard]] double confidence_of(std::size_t runs);

enum class ruling : std::uint8_t { reached, missed, undecided };
[[nodiscard]] std::string_view name_of(ruling ruling);

/// Decides whether a figure is at least (or at most) the bound: undecided if the bound lies within
/// the interval, or there were too few runs.
[[nodiscard]] ruling decide(const estimate& figure, bool at_least, double bound);

}  // namespace strata::measure
