// A sender of commands to a cache: a connection, or a replay of commands. This is all that commands
// know of it; the derived class handles the transfer of bytes.
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

/// A command kept for later: in a transaction, or waiting for a key.
struct kept_call {
  const command* what = nullptr;
  std::vector<std::string> words;

  kept_call(const command* command, std::span<const std::string_view> texts)
      : what(command), words(texts.begin(), texts.end()) {}
};

struct watched_key {
  unsigned database;
  std::string key;
  bool was_expired;  ///< when the watch began
  bool operator==(const watched_key&) const = default;
};

class client;
class front;
class user;

/// Writes a blocking command's reply when its wait ends without a result.
using give_up_reply = void (*)(front& front, client& client);

/// The wait of a client in a blocking command.
struct waiting_state {
  kept_call call;
  unsigned database;
  std::vector<std::string> keys;
  std::optional<std::int64_t> deadline_ms;
  give_up_reply give_up;
  std::string_view ready = {};                ///< the key that has changed, during a retry
  std::optional<std::int64_t> retry_ms = {};  ///< when it is tried again without a change
  bool is_fetching = false;                   ///< waits for a source of keys
  std::vector<std::string> nowhere = {};      ///< the keys that the source does not have
};

/// How a client that caches keys is notified of their changes: CLIENT TRACKING.
struct tracking_state {
  bool broadcasts = false;  ///< for all keys with its prefixes, not for those that it read
  bool opts_in = false;
  bool opts_out = false;
  bool no_loop = false;     ///< excludes its own changes
  bool has_choice = false;  ///< set by CLIENT CACHING for the next command
  bool is_redirect_broken = false;
  std::uint64_t redirect = 0;  ///< id of the client notified instead; 0: none
  client* target = nullptr;    ///< that client, while it is connected
  boost::container::flat_set<std::string, std::less<>> prefixes = {};
};

enum class reply_mode : std::uint8_t { on, off, skip_next, skip };

class client {
 public:
  client() = default;
  client(const client&) = delete;
  client& operator=(const client&) = delete;
  virtual ~client() = default;

  /// Returns the writer of replies.
  [[nodiscard]] virtual proto::reply_writer& reply() = 0;
  /// Returns the writer of subscriptions' confirmations, which are also sent to a client that wants
  /// no replies.
  [[nodiscard]] virtual proto::reply_writer& pushes() { return reply(); }
  /// Sends bytes that are shared with other receivers.
  virtual void push(const loop::slice& bytes) = 0;
  /// Disconnects it soon; if `after_reply`, after pending output has been sent.
  virtual void disconnect(bool after_reply) = 0;
  /// Called when a blocking command has ended, whether it has changed data or not: commands that
  /// arrived meanwhile can be executed.
  virtual void resume(bool has_changed_data) = 0;
  [[nodiscard]] virtual std::string remote_address() const { return {}; }
  [[nodiscard]] virtual std::string local_address() const { return {}; }
  /// The protocol as the scheme of a URL; empty if it has no connection.
  [[nodiscard]] virtual std::string_view protocol() const { return {}; }
  /// Returns the number of its descriptor in this process; -1 if it has none.
  [[nodiscard]] virtual int descriptor_number() const { return -1; }
  [[nodiscard]] virtual std::size_t output_bytes() { return 0; }
  /// The bytes of an incomplete command, and the memory reserved for more of it.
  [[nodiscard]] virtual std::size_t input_bytes() const { return 0; }
  [[nodiscard]] virtual std::size_t input_room() const { return 0; }
  /// The bytes of commands queued for EXEC.
  [[nodiscard]] std::size_t queued_bytes() const {
    std::size_t all = 0;
    for (const auto& each : queued) {
      for (const auto& word : each.words) all += word.size();
    }
    return all;
  }
  /// The bytes of unexecuted commands and of pending output.
  [[nodiscard]] virtual std::size_t held() const { return 0; }
  /// Waits until at most `low` bytes of output are pending, or the client ends.
  [[nodiscard]] virtual loop::task<> room(std::size_t /*low*/) { co_return; }

  /// The number of bytes received and sent so far.
  [[nodiscard]] virtual std::uint64_t traffic() { return 0; }

  [[nodiscard]] bool is_resp3() { return reply().is_resp3(); }
  /// Reports whether `command` would execute the commands that are queued.
  [[nodiscard]] bool executes_queued(const command& command) const {
    return in_transaction && command.row->name == "exec";
  }
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
  /// For "timeout": its traffic at the last check, and the time of the check at which that had
  /// changed.
  std::uint64_t seen_traffic = UINT64_MAX;
  std::int64_t last_active_ms = 0;
  loop::time_point last_whole;  ///< time of its last command, or of its connection
  std::string name;
  std::string library;
  std::string library_version;
  bool is_trusted = true;  ///< has logged in, or need not
  /// The user whose rules apply to it; null: none do. The cache's front sets it.
  const cache::user* user = nullptr;
  bool is_unrestricted = true;  ///< is trusted, and no rule restricts it
  bool is_monitor = false;
  bool no_evict = false;
  bool no_touch = false;
  bool may_block = true;
  bool is_ending = false;
  bool is_replay = false;    ///< replays commands: none of them is refused
  bool is_follower = false;  ///< receives every change
  bool is_script = false;    ///< the cache's own script: --access does not apply
  reply_mode replies = reply_mode::on;

  // --- transactions
  bool in_transaction = false;
  bool transaction_failed = false;  ///< one of its commands was refused when queued
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
  std::uint64_t waits_for_offset = 0;  ///< WAIT: the offset that followers must acknowledge
  bool is_postponed = false;           ///< its command waits for the end of CLIENT PAUSE
  bool is_interrupted = false;         ///< its command has been interrupted
  [[nodiscard]] bool is_held() const { return waiting || is_postponed || is_interrupted; }
  /// Reports whether it may be silent for long because it waits for others.
  [[nodiscard]] bool may_idle() const {
    return is_held() || is_subscribed() || is_monitor || is_follower || is_replay;
  }
};

}  // namespace strata::runtime::cache
