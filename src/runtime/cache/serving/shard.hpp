// One loop's part of a cache: the data, its listeners and its connections. A cache has one for
// now.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "loop/loop.hpp"
#include "net/scheme.hpp"
#include "proto/resp_request.hpp"
#include "runtime/cache/disk/storage.hpp"
#include "runtime/cache/engine/engine.hpp"
#include "runtime/cache/engine/kept_reply.hpp"
#include "runtime/cache/options.hpp"
#include "runtime/cache/replication/replication.hpp"
#include "runtime/cache/serving/figures.hpp"
#include "runtime/cache/serving/loop_clock.hpp"
#include "runtime/cache/serving/output.hpp"
#include "runtime/runtime.hpp"
#include "serve/acceptor.hpp"

namespace strata::runtime::cache {

class session;

/// Requests read from one connection and not executed yet.
struct request_batch {
  static constexpr std::size_t most = 32;
  struct request {
    std::size_t first;  ///< of its words
    std::size_t count;
    const command* what;
    std::uint64_t hash;  ///< of its first key
    std::size_t begin;   ///< where it begins in what was read
    std::size_t end;     ///< where the next does
  };
  std::vector<std::string_view> words;
  std::vector<request> requests;
};

class shard final : private loop::turn_end_hook, private loop::timer {
 public:
  struct events {
    /// A client has asked that the cache ends.
    std::function<void()> on_shut_down;
    /// A client has set options: their values, and the last edit that they came after.
    std::function<void(const nlohmann::json& options, std::uint64_t edit)> on_options_set;
  };

  shard(loop::loop& owner, const cache_options& options, serve::connection_gauge& connections,
        std::shared_ptr<journal> log, events told);
  ~shard() override;
  shard(const shard&) = delete;
  shard& operator=(const shard&) = delete;

  /// Reads what is on the disk. Errors: as of `storage::open`.
  [[nodiscard]] loop::task<result<void>> load() { return storage_.open(); }
  /// Starts to listen; a port that was 0 is filled in. Errors: of the first that cannot be bound.
  result<void> open(std::vector<net::bind_target>& targets);
  /// Ends all connections, and awaits that the data is on the disk.
  [[nodiscard]] loop::task<> close();
  /// Takes over the options that `edit`, a number that grows, has changed. They are checked.
  void apply(const nlohmann::json& changes, std::uint64_t edit);

  // --- for sessions
  [[nodiscard]] loop::loop& owner() { return loop_; }
  [[nodiscard]] engine& data() { return data_; }
  [[nodiscard]] counters& count() { return counters_; }
  void count_in(std::uint64_t messages);
  void count_out(std::uint64_t messages, std::uint64_t bytes);
  [[nodiscard]] output& shared_output() { return output_; }
  [[nodiscard]] no_reply& nowhere() { return nowhere_; }
  [[nodiscard]] request_batch& batch() { return batch_; }
  [[nodiscard]] proto::request_limits limits(bool trusted) const;
  [[nodiscard]] bool speaks_only_resp() const { return options().resp; }
  /// The log, if replies must wait until what they speak of is safe in it; else null.
  [[nodiscard]] const command_log* strict_log() const {
    const auto* const log = storage_.log();
    return log != nullptr && log->policy() == sync_policy::always ? log : nullptr;
  }
  /// `who` has replies that wait for the log, or none any more.
  void hold(session& who) {
    if (held_.empty() || held_.back() != &who) held_.push_back(&who);
  }
  void forget(session& who) { std::erase(held_, &who); }
  [[nodiscard]] std::uint64_t rate_limit() const { return options().rate_limit; }
  /// Around every execution: the time is set, memory is charged to this cache.
  void begin_work();
  void end_work();

  /// For reading from any thread.
  [[nodiscard]] const counters& counted() const { return counters_; }
  [[nodiscard]] const key_figures& counted_keys() const { return key_figures_; }
  [[nodiscard]] loop::loop_lag lag() const { return loop_.lag(); }

 private:
  void on_turn_end() override;
  void on_timer() override;
  [[nodiscard]] const cache_options& options() const { return data_.home().settings().options; }
  [[nodiscard]] loop::duration usual_tick() const;
  void arm_timer(loop::duration longest);
  void end_idle_clients();
  void release_held();
  [[nodiscard]] serve::reception reception(serve::connection_gauge& connections);
  loop::task<> serve(std::unique_ptr<net::stream> connection, serve::connection_gauge::place place);

  loop::loop& loop_;
  std::shared_ptr<journal> log_;
  counters counters_;
  key_figures key_figures_;  // as of the last turn's end
  output output_;
  no_reply nowhere_;
  request_batch batch_;
  std::unique_ptr<engine_clock> clock_;
  engine data_;
  snapshot_turn turn_;
  storage storage_;
  replication replication_;
  std::vector<session*> held_;
  std::int64_t clock_offset_ms_ = 0;
  std::int64_t idle_check_ms_ = 0;  // when clients are looked at next
  std::uint64_t edit_ = 0;          // the last one that was applied
  std::optional<charging> charging_;
  serve::acceptor acceptor_;
};

}  // namespace strata::runtime::cache
