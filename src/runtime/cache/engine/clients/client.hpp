// A sender of commands to a cache: a connection, or whatever replays commands. What is here is all
// that commands know of it; how bytes come and go is the deriving class's affair.
#pragma once

#include <boost/container/flat_set.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "loop/slice.hpp"
#include "loop/task.hpp"
#include "loop/timer.hpp"
#include "proto/resp/resp_reply.hpp"
#include "runtime/cache/engine/command.hpp"

namespace strata::runtime::cache {

/// A command kept for later: of a transaction, or one that waits for a key.
struct kept_call {
  const command* what = nullptr;
  std::vector<std::string> words;

  kept_call(const command* command, std::span<const std::string_view> texts)
      : what(command), words(texts.begin(), texts.end()) {}
};

struct watched_key {
  unsigned database;
  std::string key;
  bool was_expired;  ///< when it was watched
  bool operator==(const watched_key&) const = default;
};

class client;
class front;

/// What a blocking command replies when it has waited in vain.
using give_up_reply = void (*)(front& front, client& client);

/// What a client waits for in a blocking command.
struct waiting_state {
  kept_call call;
  unsigned database;
  std::vector<std::string> keys;
  std::optional<std::int64_t> deadline_ms;
  give_up_reply give_up;
  std::string_view ready = {};            ///< the key that has changed, while it is tried again
  bool is_fetching = false;               ///< it waits for a source of keys
  std::vector<std::string> nowhere = {};  ///< of those, the keys that the source does not have
};

/// How a client that keeps copies of keys wants to hear that they have changed: CLIENT TRACKING.
struct tracking_state {
  bool broadcasts = false;  ///< of all keys with its prefixes, and not of those that it read
  bool opts_in = false;
  bool opts_out = false;
  bool no_loop = false;     ///< not of its own changes
  bool has_choice = false;  ///< CLIENT CACHING said so for the next command
  bool is_redirect_broken = false;
  std::uint64_t redirect = 0;  ///< the client that hears instead; 0: none
  client* target = nullptr;    ///< the same, while it is there
  boost::container::flat_set<std::string, std::less<>> prefixes = {};
};

enum class reply_mode : std::uint8_t { on, off, skip_next, skip };

class client {
 public:
  client() = default;
  client(const client&) = delete;
  client& operator=(const client&) = delete;
  virtual ~client() = default;

  /// Where replies go.
  [[nodiscard]] virtual proto::reply_writer& reply() = 0;
  /// Where confirmations of subscriptions go: also to a client that wants no replies.
  [[nodiscard]] virtual proto::reply_writer& pushes() { return reply(); }
  /// Bytes that are shared with others who get the same.
  virtual void push(const loop::slice& bytes) = 0;
  /// Ends it soon, after what it was told has been sent if `after_reply`.
  virtual void disconnect(bool after_reply) = 0;
  /// A blocking command has ended: what came meanwhile can be executed.
  virtual void resume() = 0;
  [[nodiscard]] virtual std::string remote_address() const { return {}; }
  [[nodiscard]] virtual std::string local_address() const { return {}; }
  /// The protocol as the scheme of a URL; empty if it has no connection.
  [[nodiscard]] virtual std::string_view protocol() const { return {}; }
  /// The number of its descriptor in this process; -1: it has none.
  [[nodiscard]] virtual int descriptor_number() const { return -1; }
  [[nodiscard]] virtual std::size_t output_bytes() { return 0; }
  /// Bytes of a command that has not come whole, and the room for more of it.
  [[nodiscard]] virtual std::size_t input_bytes() const { return 0; }
  [[nodiscard]] virtual std::size_t input_room() const { return 0; }
  /// Bytes of commands that wait for EXEC.
  [[nodiscard]] std::size_t queued_bytes() const {
    std::size_t all = 0;
    for (const auto& each : queued) {
      for (const auto& word : each.words) all += word.size();
    }
    return all;
  }
  /// Bytes of commands that are not executed yet, and of output that waits.
  [[nodiscard]] virtual std::size_t held() const { return 0; }
  /// Awaits that no more than `low` bytes of output wait, or its end.
  [[nodiscard]] virtual loop::task<> room(std::size_t /*low*/) { co_return; }

  /// Bytes that it has sent and been sent so far.
  [[nodiscard]] virtual std::uint64_t traffic() { return 0; }

  [[nodiscard]] bool is_resp3() { return reply().is_resp3(); }
  [[nodiscard]] bool is_subscribed() const {
    return !channels.empty() || !patterns.empty() || !shard_channels.empty();
  }
  [[nodiscard]] std::size_t subscriptions() const { return channels.size() + patterns.size(); }

  std::uint64_t id = 0;
  unsigned database = 0;
  std::int64_t since_ms = 0;
  std::int64_t last_command_ms = 0;
  const command* last_command = nullptr;
  std::uint64_t calls = 0;
  /// For "timeout": its traffic when it was last looked at, and when that was seen to have changed.
  std::uint64_t seen_traffic = UINT64_MAX;
  std::int64_t last_active_ms = 0;
  loop::time_point last_whole;  ///< when its last command was executed, or it came
  std::string name;
  std::string library;
  std::string library_version;
  bool is_trusted = true;  ///< gave the password, or there is none
  bool is_monitor = false;
  bool no_evict = false;
  bool no_touch = false;
  bool may_block = true;
  bool is_ending = false;
  bool is_replay = false;    ///< executes what was executed elsewhere: nothing is refused it
  bool is_follower = false;  ///< hears every change
  bool is_script = false;    ///< the cache's own: --access does not bind it
  reply_mode replies = reply_mode::on;

  // --- transactions
  bool in_transaction = false;
  bool transaction_failed = false;  ///< a command of it was refused when it was queued
  bool watch_failed = false;        ///< a watched key has changed
  std::vector<kept_call> queued;
  std::vector<watched_key> watched;

  // --- publish and subscribe
  boost::container::flat_set<std::string, std::less<>> channels;
  boost::container::flat_set<std::string, std::less<>> patterns;
  boost::container::flat_set<std::string, std::less<>> shard_channels;

  // --- client-side caching
  std::unique_ptr<tracking_state> tracking;

  // --- blocking
  std::optional<waiting_state> waiting;
  std::uint64_t waits_for_offset = 0;  ///< WAIT: what followers are to acknowledge
  bool is_postponed = false;           ///< its command waits for the end of CLIENT PAUSE
  [[nodiscard]] bool is_held() const { return waiting || is_postponed; }
  /// It may be silent for long: it waits for others.
  [[nodiscard]] bool may_idle() const {
    return is_held() || is_subscribed() || is_monitor || is_follower || is_replay;
  }
};

}  // namespace strata::runtime::cache
