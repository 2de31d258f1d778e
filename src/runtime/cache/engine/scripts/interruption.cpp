#include "runtime/cache/engine/scripts/interruption.hpp"

#include "runtime/cache/engine/execution.hpp"

namespace strata::runtime::cache {

bool interruption::is_of_function() const { return of_->what.row->name.starts_with("fcall"); }

std::string_view interruption::refusal() const {
  return is_of_function()
             ? "BUSY Redis is busy running a script. You can only call FUNCTION KILL or SHUTDOWN "
               "NOSAVE."
             : "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN "
               "NOSAVE.";
}

void interruption::abandon(std::string error) {
  stop(std::move(error));
  of_->abandon_changes();
}

void interruption::begin(execution& interrupted, std::int64_t began_us) {
  of_ = &interrupted;
  began_us_ = began_us;
  availability_.set_interrupted(true);
  keys_.set_interrupted(true);
}

void interruption::end() {
  of_ = nullptr;
  stop_.reset();
  availability_.set_interrupted(false);
  keys_.set_interrupted(false);
}

}  // namespace strata::runtime::cache
