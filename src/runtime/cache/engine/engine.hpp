// A cache without its connections: the data (`keyspace`), the clients and what they share
// (`front`), and here what executes the commands of the ones on the other. No I/O, one thread; its
// time comes from the clock that it is given.
//
// They are three since they will differ in number: a cache on several loops has one front, and a
// keyspace and an engine on each loop.
#pragma once

#include "runtime/cache/engine/front.hpp"
#include "runtime/cache/engine/keyspace.hpp"

namespace strata::runtime::cache {

class call;
class execution;

class engine {
 public:
  /// The clock must outlive it.
  explicit engine(const engine_clock& clock)
      : keys_(parameters_, clock), front_(keys_, parameters_) {}
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
  /// Executes a command inside another: its reply becomes a part of that one's, and its changes
  /// are propagated as that one's are.
  void execute_inside(const execution& outer, const command& command,
                      std::span<const std::string_view> words);
  /// The source has no such key: commands that wait for it go on without. To be called while nobody
  /// else executes.
  void tell_missing(unsigned database, std::string_view key);
  /// The source cannot say what the key holds: commands that wait for it get this error.
  void fail_fetching(unsigned database, std::string_view key, std::string_view why);
  /// To be called when some commands have been executed: tells of what they changed.
  void end_batch() {
    if (!front_.trackers().empty()) front_.trackers().broadcast();
  }
  /// To be called now and then, some ten times a second: removes expired keys, for at most
  /// `budget`, and ends waits that are over. False: there is more to do.
  bool tick(loop::duration budget);

 private:
  [[nodiscard]] bool takes_fast_path(const client& client, std::size_t words,
                                     const command* command) const {
    return command != nullptr && command->is_plain && command->takes(words) && client.is_trusted &&
           !client.in_transaction && parameters_.maxmemory == 0 && !client.is_subscribed() &&
           !front_.is_restricted() && parameters_.access == permission::admin;
  }
  void run(call& call);
  void serve_waiting();

  // Whether a command may run, in acceptance.cpp.
  [[nodiscard]] const command* accept(client& client, std::span<const std::string_view> words,
                                      const command* command);
  void refuse(client& client, const command& command, std::string text);
  [[nodiscard]] std::string_view reason_to_refuse(const client& client, const command& command);
  bool postpone(client& client, const command& command);
  [[nodiscard]] bool make_room();

  parameters parameters_;
  keyspace keys_;
  front front_;
};

}  // namespace strata::runtime::cache
