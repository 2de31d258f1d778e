// Findings as the JSON document that `--format json` and results.json are, and the goals that they
// are held against.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "measure/run/experiment.hpp"

namespace strata::measure {

/// A ratio or difference within one run, and what it should be.
struct goal {
  std::string text;  ///< what it is, for people
  double value = 0;
  bool at_least = true;  ///< else at most
  double bound = 0;

  [[nodiscard]] bool is_met() const { return at_least ? value >= bound : value <= bound; }
};

/// Those that this run can tell: goals on paths that were not measured are left out. All are of
/// the smallest payload.
[[nodiscard]] std::vector<goal> goals_of(const findings& of);

[[nodiscard]] nlohmann::json document_of(const findings& of);

/// The series of that kind; null when it was not measured, or could not be.
[[nodiscard]] const series* find_series(const findings& in, quantity kind, std::string_view path,
                                        std::uint64_t payload, bool busy = false,
                                        double foreign = 0);

}  // namespace strata::measure
