// The way back from a deployment that failed half-way.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/line/outcome.hpp"
#include "cli/stack/deployment.hpp"
#include "stack/plan.hpp"

namespace strata::cli {

class rollback {
 public:
  /// Notes the state of a runtime before it is changed; nullopt: it does not exist. The deployment
  /// outlives this object.
  void note(deployment& deployment, const std::string& name,
            const std::optional<stack::present_runtime>& before) {
    notes_.push_back({&deployment, name, before});
  }
  /// Makes the runtimes as they were, the last one first: removes those that did not exist, and
  /// creates those that are gone; sets the options of the others, and starts, stops or restarts
  /// them. A secret cannot be restored, nor a runtime that is gone and had one. Each failure is
  /// reported, and the rest is done. Returns the names of those that are as they were.
  [[nodiscard]] std::vector<std::string> run() const;

 private:
  struct note_of_state {
    cli::deployment* deployment;
    std::string name;
    std::optional<stack::present_runtime> before;
  };

  [[nodiscard]] static outcome<> restore(const note_of_state& note);
  [[nodiscard]] static outcome<> create(const note_of_state& note);
  /// `now`: its present state.
  [[nodiscard]] static outcome<> change(const note_of_state& note,
                                        const stack::present_runtime& now);

  std::vector<note_of_state> notes_;
};

}  // namespace strata::cli
