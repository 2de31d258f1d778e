// The execution of a command that runs a script, or of a transaction with such commands, on a stack
// of its own: so a script can be interrupted wherever it is, while others run on the loop, and
// continues there. One at a time.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "loop/fiber.hpp"
#include "runtime/cache/engine/command.hpp"

namespace strata::runtime::cache {

class client;
class engine;
class execution;

class scripted_command {
 public:
  explicit scripted_command(engine& engine) : in_(engine) {}

  /// Executes the command until it ends or is interrupted. No other one must be interrupted.
  void execute(client& client, std::span<const std::string_view> words, const command& command,
               std::uint64_t hash);
  /// Reports whether the code that asks is such a command's.
  [[nodiscard]] bool is_running() const { return stack_.is_inside(); }
  /// Reports whether that is inside a script.
  [[nodiscard]] bool is_in_script() const { return is_running() && script_ != nullptr; }
  /// Called inside a script: others run until it is continued. Keeps the command's words, which
  /// were only lent.
  void interrupt();
  /// Continues the interrupted command.
  void resume();

  // --- for the engine
  /// Called when the command begins, and when its changes have been propagated.
  void begin(execution& outermost) { outermost_ = &outermost; }
  void end();
  /// Called when a script begins in it, and when that has ended.
  void begin_script(const execution& script);
  void end_script() { script_ = nullptr; }

 private:
  void run();

  engine& in_;
  client* who_ = nullptr;
  const command* what_ = nullptr;
  std::span<const std::string_view> words_;
  std::uint64_t hash_ = 0;
  std::uint64_t changes_before_ = 0;
  execution* outermost_ = nullptr;
  const execution* script_ = nullptr;  // null: no script is running
  std::int64_t script_began_us_ = 0;
  std::vector<std::string> kept_;  // the words, once it has been interrupted
  std::vector<std::string_view> kept_views_;
  loop::fiber stack_;
};

}  // namespace strata::runtime::cache
