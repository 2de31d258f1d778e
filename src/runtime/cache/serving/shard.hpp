// The part of a cache on the loop that has the engine: it accepts connections, ticks and closes;
// its sessions work at the workbench. Other loops have outposts.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "loop/loop.hpp"
#include "net/scheme.hpp"
#include "runtime/cache/disk/disk_persistence.hpp"
#include "runtime/cache/disk/users_file.hpp"
#include "runtime/cache/options.hpp"
#include "runtime/cache/replication/redis_replication.hpp"
#include "runtime/cache/scripting/cache_script.hpp"
#include "runtime/cache/scripting/script_evaluator.hpp"
#include "runtime/cache/serving/admission.hpp"
#include "runtime/cache/serving/command_tap.hpp"
#include "runtime/cache/serving/landing.hpp"
#include "runtime/cache/serving/workbench.hpp"
#include "runtime/clients.hpp"
#include "runtime/runtime.hpp"
#include "serve/acceptor.hpp"

namespace strata::runtime::cache {

class shard final : private loop::timer {
 public:
  struct events {
    /// Called when a client has requested the cache's end.
    std::function<void()> on_shut_down;
    /// Called when a client has set options, with their values and the last edit before them.
    std::function<void(const nlohmann::json& options, std::uint64_t edit)> on_options_set;
    /// Called with the reason why the leader cannot be followed; empty if it can.
    std::function<void(const std::string& why)> on_leader_trouble;
    /// Called with the reason why the disk does not accept the data; empty if it does.
    std::function<void(const std::string& why)> on_disk_trouble;
  };

  /// `handover_file`: where another daemon may have left the data; empty: nowhere.
  shard(loop::loop& loop, const cache_options& options, serve::connection_gauge& connections,
        std::shared_ptr<journal> log, std::shared_ptr<tap> tap, events events,
        scripting::identity identity, std::string handover_file);
  ~shard() override;
  shard(const shard&) = delete;
  shard& operator=(const shard&) = delete;

  /// Loads the users and the data. Errors: as of `disk_persistence::open`; the file of the users
  /// cannot be read, or has a wrong line.
  [[nodiscard]] loop::task<result<void>> load();
  /// Starts to listen; a port of 0 is replaced by the actual port. Errors: that of the first target
  /// that cannot be bound. Secure targets use the certificate in `identity`.
  result<void> open(std::vector<net::bind_target>& targets,
                    const std::shared_ptr<net::tls_slot>& identity);
  /// Reads the files for TLS to the leader, for future connections. Returns false if the leader is
  /// followed without TLS. Errors: those of the files; the previous files then stay in effect.
  [[nodiscard]] result<bool> read_certificates();
  /// Sets why options that clients have set are not in the record; empty if they are.
  void note_record_trouble(const std::string& trouble) { settings().record_trouble = trouble; }
  /// Saves what an end would lose, after a script that takes long. Errors: as of
  /// `disk_persistence::save_changes`.
  [[nodiscard]] loop::task<result<void>> save(loop::time_point limit,
                                              const std::atomic<bool>& hurried);
  /// Takes no more connections; the present ones continue.
  [[nodiscard]] loop::task<> stop_accepting() { return acceptor_.finish_listening(); }
  /// Waits for a client's script that takes long, ends all connections, and waits until the script
  /// of --lua has received all changes and a snapshot has them, until `limit`, --drain-timeout or
  /// `hurried`; then until the log is on the disk. Data that lies in no log is left in the
  /// handover's file if `is_handed_over`.
  [[nodiscard]] loop::task<> close(loop::time_point limit, const std::atomic<bool>& hurried,
                                   bool is_handed_over);
  /// Returns the clients in CLIENT LIST.
  [[nodiscard]] std::vector<client_report> report() const;
  /// Ends a client, as CLIENT KILL ID does. Returns false if there is none.
  bool disconnect(std::uint64_t id);
  /// Which clients are served, for the other loops too.
  [[nodiscard]] const admission& admits() const { return admission_; }
  /// Where the connections of the other loops reach the engine.
  [[nodiscard]] landing& at_landing() { return landing_; }
  /// Returns null if there is none.
  [[nodiscard]] cache_script* script() const { return script_.get(); }
  /// Applies the options that `edit`, an increasing number, has changed. They have been checked.
  void apply(const nlohmann::json& changes, std::uint64_t edit);

  /// May be read from any thread.
  [[nodiscard]] const counters& counted() const { return bench_.counted(); }
  [[nodiscard]] const key_figures& counted_keys() const { return bench_.counted_keys(); }
  [[nodiscard]] loop::loop_lag lag() const { return loop_.lag(); }

 private:
  void on_timer() override;
  [[nodiscard]] parameters& settings() const { return data_.home().settings(); }
  [[nodiscard]] result<void> load_users();
  [[nodiscard]] loop::duration usual_tick() const;
  /// Returns the earlier of `limit` and the end of --drain-timeout.
  [[nodiscard]] loop::time_point end_limit(loop::time_point limit) const;
  void arm_timer(loop::duration longest);
  void end_idle_clients();
  /// Sums up the memory that clients hold, and disconnects some if it is too much.
  serve::memory_watch::view check_memory();
  void let_go(std::uint64_t held);
  /// Returns what is still held.
  std::uint64_t let_go(std::uint64_t held, bool are_protected);
  void show_address(const net::bind_target& target);
  [[nodiscard]] serve::acceptor_settings acceptor_settings(serve::connection_gauge& connections);
  loop::task<> serve(std::unique_ptr<net::stream> connection, serve::connection_gauge::place place);

  loop::loop& loop_;
  std::shared_ptr<journal> log_;
  workbench bench_;
  engine& data_;  // the bench's
  admission admission_;
  command_tap commands_;
  snapshot_turn turn_;
  disk_persistence persistence_;
  std::optional<users_file> users_file_;
  redis_replication replication_;
  script_evaluator evaluator_;
  std::int64_t idle_check_ms_ = 0;  // next check for idle clients
  std::uint64_t edit_ = 0;          // the last one applied
  std::unique_ptr<cache_script> script_;
  landing landing_;
  serve::acceptor acceptor_;
};

}  // namespace strata::runtime::cache
