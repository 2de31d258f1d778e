// The leader's side of replication, by Redis's PSYNC: each follower gets a snapshot, and from then
// on every change, as bytes that all followers share. A follower that was away for a short time
// gets only what it missed, from the backlog.
//
// Offsets count the bytes of that stream since it began.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "loop/loop.hpp"
#include "loop/task_group.hpp"
#include "runtime/cache/disk/replay.hpp"
#include "runtime/cache/disk/snapshot_turn.hpp"
#include "runtime/cache/engine/engine.hpp"
#include "runtime/cache/engine/replication.hpp"
#include "runtime/journal.hpp"

namespace strata::runtime::cache {

/// The capability by which a follower says that it reads the times of fields in a snapshot. Redis
/// ignores it.
inline constexpr std::string_view field_times_capability = "field-times";

class leader final : public change_listener, private loop::turn_end_hook {
 public:
  leader(loop::loop& loop, engine& engine, snapshot_turn& turn, std::shared_ptr<journal> log);
  ~leader() override;
  leader(const leader&) = delete;
  leader& operator=(const leader&) = delete;

  void on_change(unsigned database, std::span<const std::string_view> words) override;
  void on_message(std::span<const std::string_view> words) override { append(words); }

  struct place {
    std::string address;
    unsigned port;
  };

  [[nodiscard]] std::uint64_t offset() const { return offset_; }
  [[nodiscard]] const std::string& id() const { return id_; }
  std::string configure(client& client, std::string_view option, std::string_view value);
  void acknowledge(client& who, std::uint64_t offset, std::uint64_t synced);
  void synchronise(client& client, std::string_view id, std::int64_t start);
  void send_everything(client& client);
  void forget(client& client);
  [[nodiscard]] std::size_t count_followers(std::uint64_t offset) const;
  [[nodiscard]] std::size_t count_synced_followers(std::uint64_t offset) const;
  void ask_followers();
  /// Starts another stream: the data is replaced, and the stream of the old data cannot be
  /// continued. Each follower is disconnected and needs a new snapshot.
  void begin_history();
  [[nodiscard]] bool has_followers() const;
  /// Disconnects each follower; a follower that reconnects may continue the stream.
  void drop_followers();
  /// Continues the stream of a leader whose place this cache takes: whoever has it up to `offset`
  /// continues with this cache's changes.
  void succeed(std::string id, std::uint64_t offset);
  /// While enabled, adds nothing to the stream but changes: followers can reach its end.
  void set_quiet(bool enabled) { is_quiet_ = enabled; }
  /// Reports in Redis's words why no follower, or not that one, can take this cache's place; empty
  /// if one can. `address` is empty for any.
  [[nodiscard]] std::string objection_to_successor(std::string_view address,
                                                   std::int64_t port) const;
  /// Returns the follower at that place, or any, that has everything; nullopt if there is none.
  [[nodiscard]] std::optional<place> find_successor(std::string_view address,
                                                    std::int64_t port) const;
  /// Called periodically: disconnects followers that are silent for too long, and sends the others
  /// a PING.
  void tick();
  void add_to(replication_figures& figures) const;
  /// Refuses changes while fewer followers than min-replicas-to-write are online and up to date.
  void check_followers();

 private:
  // A follower that gets no size recognizes a snapshot's end by the mark in the last bytes that it
  // received: so nothing may follow until it has acknowledged the snapshot.
  enum class stage : std::uint8_t { introduces_itself, waits, gets_snapshot, loads, online, ends };
  struct follower {
    client* who;
    unsigned port = 0;
    std::string address = {};  // as it announces
    bool takes_end_mark = false;
    bool takes_field_times = false;  // in its snapshot
    bool wants_changes = true;       // not only the snapshot
    bool wants_data = true;          // otherwise a snapshot without keys
    bool wants_functions = false;    // though it wants no data
    bool acknowledges = true;        // what it has received; a follower by SYNC does not
    stage at = stage::introduces_itself;
    std::uint64_t acknowledged = 0;
    std::uint64_t synced = 0;  // to its disk
    loop::time_point last_received;
    std::vector<loop::slice> later;  // changes while it gets its snapshot
  };

  void on_turn_end() override { flush(); }
  follower& follower_of(client& client);
  [[nodiscard]] static std::string address_of(const follower& follower);
  [[nodiscard]] static bool can_lead(const follower& follower) {
    return follower.at != stage::introduces_itself && follower.acknowledges;
  }
  void append(std::span<const std::string_view> words);
  void count_appended(std::size_t before);
  void flush();
  void pass_on(const loop::slice& bytes);
  void keep(std::string_view bytes);
  [[nodiscard]] std::int64_t lag_s(const follower& follower) const;
  [[nodiscard]] std::size_t prompt_followers() const;
  [[nodiscard]] bool can_go_on(std::string_view id, std::int64_t start) const;
  void put_online(follower& follower);
  void take_on(follower& follower);
  void send_without_data(follower& follower);
  void greet(const follower& follower);
  void end_snapshot(follower& follower, bool has_size);
  loop::task<> send_snapshots();
  loop::task<> send_snapshot();
  loop::task<> send_whole(std::string text);
  void push_to_receivers(std::string_view text);
  [[nodiscard]] bool may_send_field_times() const;
  /// Returns a follower that still has too much of the snapshot to receive, or null.
  [[nodiscard]] client* slow_receiver() const;

  loop::loop& loop_;
  engine& engine_;
  snapshot_turn& turn_;
  std::shared_ptr<journal> log_;
  std::vector<follower> followers_;
  std::string id_;
  std::string previous_id_;         // of the leader whose place this cache took; empty: none
  std::uint64_t previous_end_ = 0;  // the first offset that its stream does not have
  std::string pending_;             // changes of this turn
  std::string backlog_;             // the last bytes of the stream before them
  std::uint64_t offset_ = 0;
  change_row row_;
  loop::time_point last_ping_;
  bool is_listening_ = false;
  bool is_sending_ = false;
  bool is_quiet_ = false;
  loop::task_group running_;
};

}  // namespace strata::runtime::cache
