#include "runtime/cache/engine/scripts/scripted_command.hpp"

#include "runtime/cache/engine/engine.hpp"
#include "runtime/cache/engine/execution.hpp"

namespace strata::runtime::cache {

void scripted_command::execute(client& client, std::span<const std::string_view> words,
                               const command& command, std::uint64_t hash) {
  who_ = &client;
  what_ = &command;
  words_ = words;
  hash_ = hash;
  changes_before_ = in_.keys().changes().total();
  [[maybe_unused]] const bool has_ended = stack_.run([this] { run(); });
}

// On the stack of its own.
void scripted_command::run() {
  in_.execute_accepted(*who_, words_, *what_, hash_, this);
  if (kept_.empty()) return;
  kept_.clear();
  kept_views_.clear();
  who_->resume(in_.keys().changes().total() != changes_before_);
}

void scripted_command::interrupt() {
  auto& interruption = in_.home().interrupted();
  if (!interruption.is_on()) {
    kept_.assign(outermost_->words.begin(), outermost_->words.end());
    kept_views_.assign(kept_.begin(), kept_.end());
    outermost_->words = kept_views_;
    who_->is_interrupted = true;
    interruption.begin(*outermost_);
  }
  interruption.note_script(*script_, script_began_us_);
  stack_.interrupt();
}

void scripted_command::resume() { [[maybe_unused]] const bool has_ended = stack_.resume(); }

void scripted_command::begin_script(const execution& script) {
  script_ = &script;
  script_began_us_ = in_.keys().clock().steady_us();
}

void scripted_command::end() {
  auto& interruption = in_.home().interrupted();
  if (!interruption.is_on()) return;
  who_->is_interrupted = false;
  interruption.end();
}

}  // namespace strata::runtime::cache
