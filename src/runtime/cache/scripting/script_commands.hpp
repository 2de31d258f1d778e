// What Redis's scripts call in the table `redis`: commands, which are executed inside the one that
// runs the script.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "runtime/cache/engine/call.hpp"
#include "runtime/cache/engine/clients/client.hpp"
#include "runtime/cache/engine/engine.hpp"
#include "runtime/cache/engine/kept_reply.hpp"
#include "runtime/journal.hpp"
#include "script/library.hpp"
#include "script/machine.hpp"

namespace strata::runtime::cache {

class script_commands {
 public:
  /// Both outlive it.
  script_commands(engine& data, journal& log) : data_(data), log_(log) {}
  script_commands(const script_commands&) = delete;
  script_commands& operator=(const script_commands&) = delete;

  /// The rows of the table `redis`, whose host this is.
  [[nodiscard]] static std::span<const script::function_row> rows();

  /// The version of Redis that scripts see.
  [[nodiscard]] const redis_version& version() const { return data_.home().settings().version; }
  [[nodiscard]] bool is_running() const { return present_ != nullptr; }
  /// Why a script with these flags (of `script_flag`) may not run now; empty: it may.
  [[nodiscard]] static std::string refusal(const call& outer, std::uint8_t flags,
                                           bool is_read_only);
  /// Why a script without flags may not run while the data is stale; empty: it may.
  [[nodiscard]] static std::string staleness(const call& outer);

  /// While it exists a script runs as the command `outer`.
  class turn {
   public:
    turn(script_commands& commands, call& outer, const script_rules& rules);
    turn(const turn&) = delete;
    turn& operator=(const turn&) = delete;
    ~turn();

    /// Replies with the result of the script of that name, or with its error.
    void reply(std::string_view name, script::value_view value,
               const script::failure_place* failed);

   private:
    friend class script_commands;
    void count_error(script::value_view value);
    script_commands& commands_;
    call& outer_;
    script_rules rules_;
    std::string counted_error_;  // the last one of its commands
  };

 private:
  /// The client that a running script is to its commands.
  class hand final : public client {
   public:
    [[nodiscard]] proto::reply_writer& reply() override { return kept; }
    void push(const loop::slice& /*bytes*/) override {}
    void disconnect(bool /*after_reply*/) override {}
    void resume(bool /*has_changed_data*/) override {}
    [[nodiscard]] std::string remote_address() const override { return "lua"; }

    kept_reply kept;
  };

  void call_command(script::call& call) { execute(call, true); }
  void try_command(script::call& call) { execute(call, false); }
  [[nodiscard]] bool may_execute(const command& command,
                                 std::span<const std::string_view> words) const;
  void check_permission(script::call& call);
  void hash(script::call& call);
  void log(script::call& call);
  void choose_protocol(script::call& call);
  void choose_propagation(script::call& call);
  void draw(script::call& call);
  void seed(script::call& call);
  void execute(script::call& call, bool raises);

  engine& data_;
  journal& log_;
  hand hand_;
  turn* present_ = nullptr;                // null: no script runs
  std::uint64_t chance_ = 0x1234ABCD330E;  // the state of the random numbers, as in Redis
};

/// The rules for a script with these flags.
[[nodiscard]] script_rules rules_of(std::uint8_t flags, bool is_read_only);

/// The keys of a script, and its other arguments.
struct script_arguments {
  std::span<const std::string_view> keys;
  std::span<const std::string_view> others;

  /// Reads them from a command whose word `first` is the number of keys. Nullopt after an error
  /// reply.
  [[nodiscard]] static std::optional<script_arguments> read(
      call& outer, std::size_t first, std::string_view error = not_integer_error);
};

/// Returns the SHA-1 of a text in hexadecimal digits.
[[nodiscard]] std::string script_digest(std::string_view text);

}  // namespace strata::runtime::cache
