// The findings as the JSON document of `--format json` and results.json, and the goals to which
// they are compared.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "measure/counting/statistics.hpp"
#include "measure/run/experiment.hpp"

namespace strata::measure {

/// A ratio or difference within each run, and its bound.
struct goal {
  std::string text;  ///< description for people
  estimate value;
  bool at_least = true;  ///< else at most
  double bound = 0;

  [[nodiscard]] ruling outcome() const { return decide(value, at_least, bound); }
};

/// Returns the goals on measured paths; others are left out. All are for the smallest payload.
[[nodiscard]] std::vector<goal> goals_of(const findings& findings);

/// Returns the ratio to the base path with the same payload, wait and foreign frames; without runs
/// for the base itself, and if the base was not measured.
[[nodiscard]] estimate ratio_to_base(const findings& findings, const series& one);

[[nodiscard]] nlohmann::json document_of(const findings& findings);

/// Returns the series of that kind; null if it was not measured, or could not be.
[[nodiscard]] const series* find_series(const findings& findings, quantity kind,
                                        std::string_view path, std::uint64_t payload,
                                        bool busy = false, double foreign = 0);

}  // namespace strata::measure
