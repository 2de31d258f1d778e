// What repeated measurements say together, and how sure that is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace strata::measure {

/// 0 without samples. Half of an even number's middle pair.
[[nodiscard]] double median(std::span<const double> samples);

/// By linear interpolation between the neighbours; `part` from 0 to 1. 0 without samples.
[[nodiscard]] double quantile(std::span<const double> samples, double part);

/// The median of a figure's runs, and an interval for the median of all runs that there could be:
/// it reaches from one of the samples to another, with as many below the first as above the second.
/// Nothing is supposed of how the samples are spread, only that a run does not depend on another.
struct estimate {
  double median = 0;
  double low = 0;
  double high = 0;
  std::size_t runs = 0;
};

/// The narrowest such interval whose confidence is at least `least_confidence`; from the least to
/// the greatest sample where none is. All 0 without samples.
[[nodiscard]] estimate estimate_of(std::span<const double> samples);

/// Of what each run says by itself, so that what slows a whole run down does not count. Both have
/// the same number of samples, the first of each from the first run, and so on.
[[nodiscard]] estimate ratio_of(std::span<const double> samples, std::span<const double> to);
[[nodiscard]] estimate difference_of(std::span<const double> samples, std::span<const double> less);

inline constexpr double least_confidence = 0.9;
/// From this number of runs on an interval has the least confidence.
inline constexpr std::size_t least_runs = 5;

/// How likely the interval of that many runs holds the median: 1 - 2 P(B <= k), where B is binomial
/// (runs, 1/2) and k samples lie outside at each end.
[[nodiscard]] double confidence_of(std::size_t runs);

enum class ruling : std::uint8_t { reached, missed, undecided };
[[nodiscard]] std::string_view name_of(ruling ruling);

/// Whether a figure is at least (or at most) the bound: undecided while the bound lies within the
/// interval, or there were too few runs to say.
[[nodiscard]] ruling decide(const estimate& figure, bool at_least, double bound);

}  // namespace strata::measure
