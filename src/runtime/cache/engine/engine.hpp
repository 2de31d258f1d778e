// A cache without its connections: the data (`keyspace`), the clients and their shared state
// (`front`), and here the engine that executes the clients' commands on the data. No I/O, one
// thread; the time comes from the given clock.
//
// They are three classes because their numbers will differ: a cache on several loops has one front,
// and a keyspace and an engine on each loop.
#pragma once

#include <memory>

#include "runtime/cache/engine/front.hpp"
#include "runtime/cache/engine/keyspace.hpp"

namespace strata::runtime::cache {

class call;
class execution;
class scripted_command;

/// What the commands of a script may do.
struct script_rules {
  bool is_read_only = false;       ///< no command that writes
  bool is_propagated = true;       ///< their changes are
  bool may_exceed_memory = false;  ///< from its first change on, too: it does not end half done
};

class engine {
 public:
  /// The clock must outlive it.
  explicit engine(const engine_clock& clock);
  ~engine();
  engine(const engine&) = delete;
  engine& operator=(const engine&) = delete;

  [[nodiscard]] keyspace& keys() { return keys_; }
  [[nodiscard]] front& home() { return front_; }
  [[nodiscard]] const front& home() const { return front_; }

  /// Executes one command and writes its reply. `hash` is that of its first key, if `command` is
  /// not null and has one.
  void execute(client& client, std::span<const std::string_view> words, const command* command,
               std::uint64_t hash);
  void execute(client& client, std::span<const std::string_view> words);
  /// Executes a command inside another: its reply becomes a part of the outer reply, and its
  /// changes are propagated as the outer command's.
  void execute_inside(const execution& outer, const command& command,
                      std::span<const std::string_view> words);
  /// Executes a command of a script that runs as `outer`; `hand` gets the reply. A command that
  /// scripts may not execute replies with an error.
  void execute_for_script(const execution& outer, client& hand,
                          std::span<const std::string_view> words, script_rules& rules);
  // --- scripts that take long
  /// Reports whether the script that is running may be interrupted: not one that is replayed.
  [[nodiscard]] bool may_interrupt() const;
  /// Called by that script: others run until `resume_interrupted` is called, and it returns.
  void interrupt();
  /// Continues the interrupted script, until it ends or is interrupted once more.
  void resume_interrupted();

  /// Reports that the source has no such key: commands that wait for it continue without. Called
  /// while no command is executed.
  void report_missing(unsigned database, std::string_view key);
  /// Reports that the source cannot fetch the key: commands that wait for it get this error.
  void fail_fetching(unsigned database, std::string_view key, std::string_view why);
  /// Called after a batch of commands: broadcasts what they changed.
  void end_batch() {
    if (!front_.trackers().empty()) front_.trackers().broadcast();
  }
  /// Called periodically, some ten times a second: removes expired keys, for at most `budget`, and
  /// ends waits whose time is over. Returns false if there is more to do.
  bool tick(loop::duration budget);
  /// Evicts keys while memory is short, if the policy permits it. Returns false if it stays short.
  bool make_room();

 private:
  friend class scripted_command;

  /// `scripted`: the stack on which it runs, if not the loop's.
  void execute_accepted(client& client, std::span<const std::string_view> words,
                        const command& command, std::uint64_t hash, scripted_command* scripted);
  [[nodiscard]] bool may_interrupt(const client& client, const command& command) const;
  /// Reports whether the code that asks is that of the interrupted command, which continues.
  [[nodiscard]] bool is_in_interrupted() const;
  [[nodiscard]] bool takes_fast_path(const client& client, std::size_t words,
                                     const command* command) const {
    return command != nullptr && command->is_plain && command->takes(words) &&
           client.is_unrestricted && !client.in_transaction && parameters_.maxmemory == 0 &&
           !client.is_subscribed() && !front_.availability().is_restricted();
  }
  void run(call& call);
  void run_script(call& call);
  void serve_waiting();

  // Decide whether a command may run; in acceptance.cpp.
  [[nodiscard]] const command* accept(client& client, std::span<const std::string_view> words,
                                      const command* command);
  void refuse(client& client, const command& command, std::string text);
  void reject(client& client, const command* command, std::string_view text);
  [[nodiscard]] const command* accept_for_script(const execution& outer, client& hand,
                                                 std::span<const std::string_view> words,
                                                 const script_rules& rules);
  [[nodiscard]] std::string_view reason_to_refuse(const client& client, const command& command);
  bool postpone(client& client, const command& command, std::span<const std::string_view> words);

  parameters parameters_;
  keyspace keys_;
  front front_;
  std::unique_ptr<scripted_command> scripted_;  // null until a script runs
};

}  // namespace strata::runtime::cache
