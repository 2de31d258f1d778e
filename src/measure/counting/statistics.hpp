// What repeated measurements say together.
#pragma once

#include <span>

namespace strata::measure {

/// 0 without samples. Half of an even number's middle pair.
[[nodiscard]] double median(std::span<const double> samples);

/// By linear interpolation between the neighbours; `part` from 0 to 1. 0 without samples.
[[nodiscard]] double quantile(std::span<const double> samples, double part);

/// How far the median may be off, as a part of it: its standard error, 1.25 σ / √n, with σ taken
/// from the distance of the quartiles (σ = distance / 1.35), which one wild sample does not move.
/// 1 when it cannot be told: fewer than two samples.
[[nodiscard]] double relative_spread(std::span<const double> samples);

}  // namespace strata::measure
