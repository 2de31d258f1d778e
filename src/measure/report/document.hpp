// Findings as the JSON document that `--format json` and results.json are, and the goals that they
// are held against.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "measure/counting/statistics.hpp"
#include "measure/run/experiment.hpp"

namespace strata::measure {

/// A ratio or difference within each run, and what it should be.
struct goal {
  std::string text;  ///< what it is, for people
  estimate value;
  bool at_least = true;  ///< else at most
  double bound = 0;

  [[nodiscard]] ruling outcome() const { return decide(value, at_least, bound); }
};

/// Those that were measured: goals on paths that were not are left out. All are of the
/// smallest payload.
[[nodiscard]] std::vector<goal> goals_of(const findings& findings);

/// Beside the base path with the same payload, wait and foreign frames; without runs for the base
/// itself, and where the base was not measured.
[[nodiscard]] estimate ratio_to_base(const findings& findings, const series& one);

[[nodiscard]] nlohmann::json document_of(const findings& findings);

/// The series of that kind; null when it was not measured, or could not be.
[[nodiscard]] const series* find_series(const findings& findings, quantity kind,
                                        std::string_view path, std::uint64_t payload,
                                        bool busy = false, double foreign = 0);

}  // namespace strata::measure
