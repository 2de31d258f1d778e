// One loop's part of a cache: it accepts connections, ticks and closes; at the bench its sessions
// work. A cache has one for now.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "loop/loop.hpp"
#include "net/scheme.hpp"
#include "runtime/cache/disk/disk_persistence.hpp"
#include "runtime/cache/options.hpp"
#include "runtime/cache/replication/redis_replication.hpp"
#include "runtime/cache/scripting/cache_script.hpp"
#include "runtime/cache/serving/command_tap.hpp"
#include "runtime/cache/serving/workbench.hpp"
#include "runtime/clients.hpp"
#include "runtime/runtime.hpp"
#include "serve/acceptor.hpp"

namespace strata::runtime::cache {

class shard final : private loop::timer {
 public:
  struct events {
    /// A client has asked that the cache ends.
    std::function<void()> on_shut_down;
    /// A client has set options: their values, and the last edit that they came after.
    std::function<void(const nlohmann::json& options, std::uint64_t edit)> on_options_set;
    /// Why the leader cannot be followed; empty: it can.
    std::function<void(const std::string& why)> on_leader_trouble;
    /// Why the disk does not take the data; empty: it does.
    std::function<void(const std::string& why)> on_disk_trouble;
  };

  shard(loop::loop& loop, const cache_options& options, serve::connection_gauge& connections,
        std::shared_ptr<journal> log, std::shared_ptr<tap> tap, events events,
        scripting::identity identity);
  ~shard() override;
  shard(const shard&) = delete;
  shard& operator=(const shard&) = delete;

  /// Reads what is on the disk. Errors: as of `disk_persistence::open`.
  [[nodiscard]] loop::task<result<void>> load() { return persistence_.open(); }
  /// Starts to listen; a port that was 0 is filled in. Errors: of the first that cannot be bound.
  /// Those that are secure show what is in `identity`.
  result<void> open(std::vector<net::bind_target>& targets,
                    const std::shared_ptr<net::tls_slot>& identity);
  /// Reads the files of TLS to the leader, for connections to come. False: it is followed without.
  /// Errors: of the files; then those that were read before stay in force.
  [[nodiscard]] result<bool> read_certificates();
  /// What keeps options that clients have set out of the record; empty: nothing any more.
  void note_record_trouble(const std::string& trouble) { settings().record_trouble = trouble; }
  /// Saves what an end would lose. Errors: as of `disk_persistence::save_changes`.
  [[nodiscard]] loop::task<result<void>> save(loop::time_point limit,
                                              const std::atomic<bool>& hurried);
  /// Ends all connections, and awaits that the script has heard of all changes and that a snapshot
  /// has them, until `limit`, --drain-timeout or `hurried`; then that the log is on the disk.
  [[nodiscard]] loop::task<> close(loop::time_point limit, const std::atomic<bool>& hurried);
  /// The clients that CLIENT LIST shows.
  [[nodiscard]] std::vector<client_report> report() const;
  /// Ends a client, as CLIENT KILL ID does. False: it is not there.
  bool disconnect(std::uint64_t id);
  /// Null: there is none.
  [[nodiscard]] cache_script* script() const { return script_.get(); }
  /// Takes over the options that `edit`, a number that grows, has changed. They are checked.
  void apply(const nlohmann::json& changes, std::uint64_t edit);

  /// For reading from any thread.
  [[nodiscard]] const counters& counted() const { return bench_.counted(); }
  [[nodiscard]] const key_figures& counted_keys() const { return bench_.counted_keys(); }
  [[nodiscard]] loop::loop_lag lag() const { return loop_.lag(); }

 private:
  void on_timer() override;
  [[nodiscard]] parameters& settings() const { return data_.home().settings(); }
  [[nodiscard]] loop::duration usual_tick() const;
  /// `limit`, or when --drain-timeout is over.
  [[nodiscard]] loop::time_point end_limit(loop::time_point limit) const;
  void arm_timer(loop::duration longest);
  void end_idle_clients();
  /// Adds up what clients hold, and lets some go if it is too much.
  serve::memory_watch::view look_at_memory();
  void let_go(std::uint64_t held);
  void show_address(const net::bind_target& target);
  [[nodiscard]] serve::reception reception(serve::connection_gauge& connections);
  /// Why a client is turned away; empty: it is served.
  [[nodiscard]] std::string objection_to(const net::stream& arrived) const;
  loop::task<> serve(std::unique_ptr<net::stream> connection, serve::connection_gauge::place place);

  loop::loop& loop_;
  std::shared_ptr<journal> log_;
  workbench bench_;
  engine& data_;  // the bench's
  command_tap commands_;
  snapshot_turn turn_;
  disk_persistence persistence_;
  redis_replication replication_;
  std::int64_t idle_check_ms_ = 0;  // when clients are looked at next
  std::uint64_t edit_ = 0;          // the last one that was applied
  std::unique_ptr<cache_script> script_;
  serve::acceptor acceptor_;
};

}  // namespace strata::runtime::cache
