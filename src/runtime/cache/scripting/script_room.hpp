// A Lua machine in which Redis's scripts find what Redis 7 gives them: its libraries, behind
// globals that no script can change.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "loop/loop.hpp"
#include "runtime/cache/engine/version.hpp"
#include "script/machine.hpp"

namespace strata::runtime::cache {

class script_room {
 public:
  /// The functions in the table `redis`, and the objects with which they are called.
  struct tables {
    std::span<const script::function_row> redis;
    void* commands;
    const redis_version& version;  ///< which scripts see; outlives this
    script::run_supervisor* supervisor;
    /// Those that a library of functions calls while it is loaded; none in a room for scripts.
    std::span<const script::function_row> loading = {};
    void* library = nullptr;
  };

  /// What `tables` names, and `watched_by`, outlive the room. Errors: limit_exceeded if there is
  /// too little memory for it.
  [[nodiscard]] static result<std::unique_ptr<script_room>> make(loop::loop& loop,
                                                                 script::observer& watched_by,
                                                                 const tables& tables);

  /// Compiles a script. Errors: invalid_argument, with Lua's own words as the reason.
  [[nodiscard]] result<script::value_ref> compile(std::string_view text, const std::string& name) {
    return machine_->compile(text, name);
  }
  /// Runs a script, or a function, to its end. `take` gets its result.
  void run(const script::value_ref& body, std::span<const std::string_view> keys,
           std::span<const std::string_view> arguments, const script::result_taker& take);
  /// Runs the text of a library, which has no keys and no arguments.
  void load(const script::value_ref& body, const script::result_taker& take);
  /// As `run`, for a function that gets its keys and arguments as parameters.
  void call(const script::value_ref& function, std::span<const std::string_view> keys,
            std::span<const std::string_view> arguments, const script::result_taker& take);

  [[nodiscard]] std::size_t memory() const { return machine_->memory(); }

 private:
  explicit script_room(std::unique_ptr<script::machine> machine) : machine_(std::move(machine)) {}
  void furnish(const tables& tables);
  [[nodiscard]] script::result_taker with_place(const script::value_ref& function,
                                                const script::result_taker& take) const;

  std::unique_ptr<script::machine> machine_;
  script::value_ref enter_;          // runs a script with its keys and arguments
  script::value_ref enter_library_;  // runs the text of a library
};

}  // namespace strata::runtime::cache
