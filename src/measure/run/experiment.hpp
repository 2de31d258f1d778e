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
  double seconds = 0;                                ///< that the run took
};

/// Called before each measurement with what part (0 to 1) is done, and what comes.
using progress = std::function<void(double part, const std::string& next)>;

/// Carries out the plan. The contenders of a group take turns, a measurement each, and each round
/// begins with another one; a group goes on until the medians of all are settled or the limit is
/// reached. A path that fails is left out with its reason. Errors: of the testbed.
[[nodiscard]] result<findings> run_experiment(testbed& in, const plan& what, const progress& show);

}  // namespace strata::measure
