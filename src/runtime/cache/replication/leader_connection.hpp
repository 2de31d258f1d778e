// The follower's side of replication: a connection to a leader, Redis or another cache, whose data
// and changes become this cache's. When the connection breaks, it reconnects, and requests only
// what it missed, if the leader still has it.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "loop/loop.hpp"
#include "loop/task_group.hpp"
#include "net/tls/slot.hpp"
#include "proto/resp/resp_request.hpp"
#include "redis/connection.hpp"
#include "runtime/cache/disk/replay.hpp"
#include "runtime/cache/engine/replication.hpp"
#include "runtime/journal.hpp"

namespace strata::runtime::cache {

class engine;

class leader_connection {
 public:
  /// A position in a leader's stream that this cache's data equals.
  struct position {
    std::string id;
    std::uint64_t offset = 0;
    unsigned database = 0;  ///< of the next change
  };
  struct place {
    std::string host;                             ///< or the name of a runtime
    std::uint16_t port;                           ///< 0: it is a name
    unsigned own_port;                            ///< this cache's listening port; 0: not announced
    std::shared_ptr<const net::tls_slot> secure;  ///< empty: without TLS
    net::directory* names = nullptr;              ///< where a runtime is found
    /// The stream that the leader is asked to continue; nullopt if nothing can be continued.
    std::optional<position> known = std::nullopt;
    /// This cache hands over its leadership: the other one must accept that and continue the
    /// stream.
    bool hands_over = false;
  };
  enum class handover : std::uint8_t { none, pending, accepted, rejected };
  struct hooks {
    std::function<void()> begin_work;
    std::function<void()> end_work;
    /// Called when the leader's data is about to replace this cache's: the followers' streams end
    /// here.
    std::function<void()> on_discard;
    /// Called when all data has been replaced: anything derived from the old data is invalid.
    std::function<void()> on_new_data;
    /// Called with the reason why the leader cannot be followed; empty if it is followed.
    std::function<void(const std::string& why)> on_trouble;
  };

  leader_connection(loop::loop& loop, engine& engine, place leader, hooks hooks,
                    std::shared_ptr<journal> log);
  ~leader_connection();
  leader_connection(const leader_connection&) = delete;
  leader_connection& operator=(const leader_connection&) = delete;

  [[nodiscard]] const place& leader() const { return leader_; }
  /// Returns "tcp://host:port", or "tls://host:port" with TLS.
  [[nodiscard]] std::string url() const;
  /// Returns "connect", "connecting", "sync" or "connected".
  [[nodiscard]] std::string_view state() const { return state_; }
  [[nodiscard]] bool is_connected() const { return state_ == "connected"; }
  [[nodiscard]] std::uint64_t offset() const { return offset_; }
  /// The id of the leader's stream; empty before the first.
  [[nodiscard]] const std::string& id() const { return id_; }
  /// Returns what the data equals; nullopt before the first snapshot, and while one is loaded.
  [[nodiscard]] std::optional<position> known() const;
  /// When bytes last arrived from the leader; nullopt before the first time.
  [[nodiscard]] std::optional<loop::time_point> last_received() const { return last_received_; }
  /// When the connection broke; nullopt while there is one, and before the first.
  [[nodiscard]] std::optional<loop::time_point> lost_at() const { return lost_at_; }
  /// In the state "sync": how much of the snapshot has arrived.
  [[nodiscard]] snapshot_transfer transfer() const { return transfer_; }
  /// How the other one has answered to the handed-over leadership.
  [[nodiscard]] handover handed_over() const { return handover_; }
  /// Ends the connection, which is then made again. Returns false if there is none.
  bool cut();
  /// Called periodically: acknowledges what has arrived, and gives up on a silent leader.
  void tick();

 private:
  loop::task<> run();
  void set_state(std::string_view state);
  loop::task<result<void>> connect();
  loop::task<result<void>> introduce(redis::connection& connection);
  loop::task<result<void>> synchronise();
  void note_handover(const result<std::string>& reply);
  loop::task<result<void>> take_snapshot();
  loop::task<result<std::string>> receive_payload();
  loop::task<result<void>> load(std::string payload);
  loop::task<result<void>> repeat();
  result<void> execute(std::span<const std::string_view> words);
  /// Waits until no script is interrupted: the data must not change meanwhile.
  loop::task<> await_end_of_script();
  void acknowledge();
  void note_synced();

  loop::task<result<void>> receive();
  loop::task<result<std::string>> read_line();
  loop::task<result<std::string>> ask(std::span<const std::string_view> words);
  void send(std::span<const std::string_view> words);
  [[nodiscard]] std::string name() const;

  loop::loop& loop_;
  engine& engine_;
  place leader_;
  hooks hooks_;
  std::shared_ptr<journal> log_;
  std::unique_ptr<net::stream> stream_;
  std::unique_ptr<replay> replay_;
  std::string received_;  // not yet parsed
  std::string_view state_ = "connect";
  std::string id_;
  std::uint64_t offset_ = 0;
  std::uint64_t unfinished_ = 0;  // bytes of an incomplete transaction behind it
  std::optional<loop::time_point> last_received_;
  std::optional<loop::time_point> lost_at_;
  snapshot_transfer transfer_;
  loop::time_point last_acknowledgement_;
  handover handover_ = handover::none;
  bool awaits_end_of_script_ = false;
  bool has_asked_ = false;  // sent PSYNC … FAILOVER, perhaps without an answer
  struct logged_offset {
    std::uint64_t offset;
    std::uint64_t position;  // in this cache's log
  };
  std::deque<logged_offset> unsynced_;
  std::uint64_t synced_ = 0;  // 0: no log, or nothing is synced
  loop::task_group running_;
};

}  // namespace strata::runtime::cache
