// Runs the scripts of EVAL and its relatives in a Lua machine that is made for the first one, and
// the functions of libraries, each of which has a machine of its own. The changes of a script's
// commands are propagated as one transaction, and nothing else is executed until it ends: while
// one that takes long is interrupted, other commands are refused.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>

#include "runtime/cache/engine/scripts/evaluator.hpp"
#include "runtime/cache/scripting/function_registry.hpp"
#include "runtime/cache/scripting/script_commands.hpp"
#include "runtime/cache/scripting/script_room.hpp"
#include "runtime/cache/scripting/script_supervisor.hpp"

namespace strata::runtime::cache {

class script_evaluator final : public evaluator, private script::observer {
 public:
  /// `data` and `log` outlive it.
  script_evaluator(loop::loop& loop, engine& data, work_hooks hooks, journal& log)
      : loop_(loop),
        log_(log),
        supervisor_(loop, data, std::move(hooks)),
        commands_(data, log),
        functions_(loop, *this, {commands_, supervisor_}, data.keys()) {}

  [[nodiscard]] script_supervisor& supervisor() { return supervisor_; }

  void evaluate(call& outer, std::string_view text, std::size_t first, bool is_read_only) override;
  void evaluate_known(call& outer, std::string_view digest, std::size_t first,
                      bool is_read_only) override;
  void load(call& outer, std::string_view text) override;
  [[nodiscard]] bool knows(std::string_view digest) const override;
  void forget_all() override;

  void call_function(call& outer, bool is_read_only) override {
    functions_.call_function(outer, is_read_only);
  }
  void load_library(call& outer, std::string_view text, bool replaces) override {
    functions_.load(outer, text, replaces);
  }
  void restore_libraries(call& outer, std::span<const std::string> texts,
                         restore_policy policy) override {
    functions_.restore(outer, texts, policy);
  }
  void list_libraries(call& outer, std::string_view pattern, bool with_texts) override {
    functions_.list(outer, pattern, with_texts);
  }
  void remove_library(call& outer, std::string_view name) override {
    functions_.remove(outer, name);
  }
  void remove_all_libraries() override { functions_.clear(); }

  [[nodiscard]] std::uint8_t declared_flags(const command& command,
                                            std::span<const std::string_view> words) override;
  [[nodiscard]] figures counted() override;

 private:
  struct kept_script {
    script::value_ref body;
    bool has_head = false;
    std::uint8_t flags = 0;  // of `script_flag`
  };
  using scripts = std::map<std::string, kept_script, std::less<>>;
  /// A text that was evaluated lately. To compare it costs less than its digest.
  struct recent_text {
    std::string text;
    const scripts::value_type* script = nullptr;
  };
  static constexpr std::size_t longest_recent = 4096;

  void on_error(const std::string& text) override { log_.write(level::error, text); }
  void on_print(const std::string& line) override { log_.write(level::info, line); }
  void on_run(const script::callback_run& /*ran*/) override {}

  /// Makes the room, unless it is there. Returns false, after an error reply, if there is no memory
  /// for it.
  [[nodiscard]] bool prepare(call& outer);
  /// Finds or compiles a script. Null, after an error reply, if it has an error.
  const scripts::value_type* find(call& outer, std::string_view text);
  const scripts::value_type* find_or_compile(call& outer, std::string_view text);
  void run(call& outer, const scripts::value_type& script, std::size_t first, bool is_read_only);

  loop::loop& loop_;
  journal& log_;
  script_supervisor supervisor_;
  script_commands commands_;
  std::unique_ptr<script_room> room_;         // null until a script runs
  scripts scripts_;                           // by their digests
  std::array<recent_text, 64> recent_texts_;  // by their hashes
  function_registry functions_;
};

}  // namespace strata::runtime::cache
