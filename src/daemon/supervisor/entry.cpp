#include "daemon/supervisor/entry.hpp"

#include "text/nearest.hpp"

namespace strata::daemon {

std::string_view name_of(run_state state) {
  switch (state) {
    case run_state::created: return "created";
    case run_state::running: return "running";
    case run_state::stopping: return "stopping";
    case run_state::stopped: return "stopped";
    case run_state::failed: return "failed";
  }
  return "created";
}

std::unexpected<error> not_found(const std::string& name, std::span<const std::string> known) {
  return failure(errc::not_found, "find runtime '" + name + "'",
                 "no runtime has this name" + text::did_you_mean(name, known),
                 "list runtimes with: strata ls");
}

}  // namespace strata::daemon
