// A run of the benchmark: carries out a plan on a testbed.
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
  nlohmann::json sockets = nlohmann::json::array();  ///< from `time_sockets`
  nlohmann::json link;                               ///< the testbed's description
  double seconds = 0;                                ///< duration
  std::string began;                                 ///< local time in ISO 8601
  std::string command;                               ///< the command line
  std::string revision;                              ///< of the program's source; empty if unknown
};

/// Called before each measurement with the completed part (0 to 1), and the next step.
using progress = std::function<void(double part, const std::string& next)>;

/// Carries out the plan: each run measures each contender of each group once. Groups alternate, so
/// that no payload is measured in one piece or at a time of its own, and each run begins with
/// another contender. A path that fails is left out with its reason. Errors: those of the testbed.
[[nodiscard]] result<findings> run_experiment(testbed& testbed, const plan& plan,
                                              const progress& show);

}  // namespace strata::measure
