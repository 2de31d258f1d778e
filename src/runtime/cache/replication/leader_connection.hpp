// The follower's side of replication: a connection to a leader, Redis or another cache, whose data
// and changes become this cache's. When the connection breaks it is made again, and only what was
// missed is asked for, if the leader still has it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "loop/loop.hpp"
#include "loop/task_group.hpp"
#include "net/stream.hpp"
#include "net/tls/slot.hpp"
#include "proto/resp/resp_request.hpp"
#include "runtime/cache/disk/replay.hpp"
#include "runtime/journal.hpp"

namespace strata::runtime::cache {

class engine;

class leader_connection {
 public:
  struct place {
    std::string host;
    std::uint16_t port;
    unsigned own_port;  ///< on which this cache listens; 0: it does not say
    std::shared_ptr<const net::tls_slot> secure;  ///< empty: the leader is reached without TLS
  };
  struct hooks {
    std::function<void()> begin_work;
    std::function<void()> end_work;
    /// The data is about to be replaced by the leader's: followers' streams end here.
    std::function<void()> on_discard;
    /// All data has been replaced: what was kept of it elsewhere is void.
    std::function<void()> on_new_data;
    /// Why the leader cannot be followed; empty: it is followed.
    std::function<void(const std::string& why)> on_trouble;
  };

  leader_connection(loop::loop& loop, engine& engine, place leader, hooks hooks,
                    std::shared_ptr<journal> log);
  ~leader_connection();
  leader_connection(const leader_connection&) = delete;
  leader_connection& operator=(const leader_connection&) = delete;

  [[nodiscard]] const place& leader() const { return leader_; }
  /// "tcp://host:port", or "tls://host:port" if it is reached by TLS.
  [[nodiscard]] std::string url() const;
  /// "connect", "connecting", "sync" or "connected".
  [[nodiscard]] std::string_view state() const { return state_; }
  [[nodiscard]] bool is_connected() const { return state_ == "connected"; }
  [[nodiscard]] std::uint64_t offset() const { return offset_; }
  /// Whose stream it is; empty before the first.
  [[nodiscard]] const std::string& id() const { return id_; }
  /// When the leader was last heard; nothing before the first time.
  [[nodiscard]] std::optional<std::int64_t> heard_ms() const { return heard_ms_; }
  /// To be called now and then: tells the leader what has arrived, and gives up on a silent one.
  void tick();

 private:
  loop::task<> run();
  loop::task<result<void>> connect();
  loop::task<result<void>> introduce();
  loop::task<result<void>> synchronise();
  loop::task<result<void>> take_snapshot();
  loop::task<result<std::string>> receive_payload();
  loop::task<result<void>> load(std::string payload);
  loop::task<result<void>> repeat();
  result<void> execute(std::span<const std::string_view> words);
  void acknowledge();

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
  std::string received_;  // and not looked at yet
  std::string_view state_ = "connect";
  std::string id_;
  std::uint64_t offset_ = 0;
  std::uint64_t unfinished_ = 0;  // bytes of a transaction behind it
  std::optional<std::int64_t> heard_ms_;
  std::int64_t acknowledged_ms_ = 0;
  loop::task_group running_;
};

}  // namespace strata::runtime::cache
