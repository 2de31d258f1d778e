// A run of the benchmark: its plan, carried out on a testbed.
#pragma once

#include <cstddef>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "measure/run/plan.hpp"
#include "measure/run/series.hpp"
#include "measure/run/testbed.hpp"

namespace strata::measure {

struct findings {
  plan of;
  std::vector<series> all;
  nlohmann::json sockets = nlohmann::json::array();  ///< as `time_sockets` gives them
  nlohmann::json link;                               ///< as the testbed describes itself
  double seconds = 0;                                ///< that it took
  std::string began;                                 ///< local time, as ISO 8601 has it
  std::string command;                               ///< by which it was asked for
  std::string revision;  ///< of the program's source; empty if nobody said
};

/// Called before each measurement with what part (0 to 1) is done, and what comes.
using progress = std::function<void(double part, const std::string& next)>;

/// Carries out the plan: in each run each contender of each group is measured once. Groups take
/// turns, so that no payload is measured in one piece and none at a time of its own, and each run
/// begins with another contender. A path that fails is left out with its reason. Errors: of the
/// testbed.
[[nodiscard]] result<findings> run_experiment(testbed& testbed, const plan& plan,
                                              const progress& show);

}  // namespace strata::measure
