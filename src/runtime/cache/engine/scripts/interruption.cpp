#include "runtime/cache/engine/scripts/interruption.hpp"

#include <utility>

#include "runtime/cache/engine/execution.hpp"

namespace strata::runtime::cache {

bool interruption::is_of_function() const { return script_->what.row->name.starts_with("fcall"); }

std::string_view interruption::refusal() const {
  return is_of_function()
             ? "BUSY Redis is busy running a script. You can only call FUNCTION KILL or SHUTDOWN "
               "NOSAVE."
             : "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN "
               "NOSAVE.";
}

void interruption::stop_all(std::string error) {
  stop(std::move(error));
  stops_all_ = true;
}

void interruption::abandon(std::string error) {
  stop_all(std::move(error));
  outermost_->abandon_changes();
}

std::optional<std::string> interruption::take_stop() {
  return stops_all_ ? stop_ : std::exchange(stop_, {});
}

void interruption::report_end() {
  for (const auto& then : std::exchange(awaiting_, {})) then();
}

void interruption::note_script(const execution& script, std::int64_t began_us) {
  script_ = &script;
  began_us_ = began_us;
}

void interruption::begin(execution& outermost) {
  outermost_ = &outermost;
  availability_.set_interrupted(true);
  keys_.set_interrupted(true);
}

void interruption::end() {
  outermost_ = nullptr;
  script_ = nullptr;
  stop_.reset();
  stops_all_ = false;
  availability_.set_interrupted(false);
  keys_.set_interrupted(false);
}

}  // namespace strata::runtime::cache
