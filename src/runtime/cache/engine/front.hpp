// A cache's clients, and their shared state: channels, watched keys and waits, settings and
// statistics. It receives the keyspace's notifications that clients need. No I/O, one thread.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/cache/engine/clients/blocked_clients.hpp"
#include "runtime/cache/engine/clients/client.hpp"
#include "runtime/cache/engine/clients/command_feed.hpp"
#include "runtime/cache/engine/clients/data_availability.hpp"
#include "runtime/cache/engine/clients/pause.hpp"
#include "runtime/cache/engine/clients/pubsub.hpp"
#include "runtime/cache/engine/clients/sync_waits.hpp"
#include "runtime/cache/engine/clients/tracking.hpp"
#include "runtime/cache/engine/clients/watched_keys.hpp"
#include "runtime/cache/engine/keyspace.hpp"
#include "runtime/cache/engine/parameters.hpp"
#include "runtime/cache/engine/scripts/interruption.hpp"
#include "runtime/cache/engine/statistics/cache_statistics.hpp"
#include "runtime/cache/engine/users/acl_log.hpp"
#include "runtime/cache/engine/users/user_table.hpp"

namespace strata::runtime::cache {

class acl_file;
class evaluator;
class key_source;
class persistence;
class replication;

class front final : private key_observer {
 public:
  /// Both must outlive the front; `data` takes its limits from `settings`.
  front(keyspace& data, parameters& settings);
  ~front() override;
  front(const front&) = delete;
  front& operator=(const front&) = delete;

  /// Returns the data of its clients.
  [[nodiscard]] keyspace& keys() { return keys_; }

  // --- clients
  void enter(client& arrived);
  /// Removes a client, with its watches, waits and subscriptions.
  void leave(client& gone);
  /// Ends a client that executes nothing at the moment: for others it is gone at once, though its
  /// connection, perhaps on another loop, may take a while to end. One that runs a script stays
  /// until that ends.
  void disconnect(client& client);
  [[nodiscard]] std::vector<client*>& clients() { return clients_; }
  /// Ends the wait of the client with that id; `reply` writes the reply. Does nothing if it does
  /// not wait.
  void answer(std::uint64_t id, const std::function<void(client&)>& reply);
  /// Ends the wait of `client` without a result.
  void give_up_waiting(client& client);
  /// Ends waits, and a pause, whose time is over, and touches the keys of waits to try again.
  void end_overdue();
  /// Returns when the next wait, or the pause, ends by its time, or a wait is to be tried again.
  [[nodiscard]] std::optional<std::int64_t> next_deadline_ms() const;
  [[nodiscard]] pubsub& channels() { return pubsub_; }
  [[nodiscard]] watched_keys& watched() { return watched_; }
  [[nodiscard]] blocked_clients& blocked() { return blocked_; }
  [[nodiscard]] sync_waits& awaited_syncs() { return sync_waits_; }
  [[nodiscard]] tracking& trackers() { return tracking_; }
  [[nodiscard]] pause& pausing() { return pause_; }
  [[nodiscard]] command_feed& feed() { return feed_; }
  [[nodiscard]] data_availability& availability() { return availability_; }
  [[nodiscard]] const data_availability& availability() const { return availability_; }
  /// Reports whether the data may be old, and clients must not read it then.
  [[nodiscard]] bool has_stale_data() const {
    return availability_.is_cut_off() && !parameters_.serves_stale_data;
  }
  /// The interruption of a script that takes long.
  [[nodiscard]] interruption& interrupted() { return interruption_; }
  [[nodiscard]] const interruption& interrupted() const { return interruption_; }
  /// `callback` is called with each client that has given a wrong password.
  void on_wrong_password(std::function<void(const client& client)> callback) {
    on_wrong_password_ = std::move(callback);
  }
  void note_wrong_password(const client& client) const {
    if (on_wrong_password_) on_wrong_password_(client);
  }

  // --- users
  [[nodiscard]] const user_table& users() const { return users_; }
  /// Sets the user of that name. Its subscribers to channels that it may not receive any more are
  /// disconnected.
  void set_user(user changed);
  /// Replaces all users. Clients that have logged in are disconnected, except those of the default
  /// user. Without one among `users`, it keeps its settings.
  void replace_users(std::vector<user> users);
  /// Removes a user, and disconnects its clients; not the default one.
  void remove_user(std::string_view name);
  /// Makes the client act as this user.
  void log_in(client& client, const user& user);
  /// Makes the client one that has not logged in.
  void log_out(client& client);
  /// Returns why the rules of the client's user do not permit the call; it is then in ACL LOG.
  [[nodiscard]] std::optional<access_denial> check_access(client& client, const command& command,
                                                          std::span<const std::string_view> words,
                                                          acl_context context);
  /// Writes an entry to ACL LOG about a call of `client`.
  void note_denial(client& client, acl_log_entry entry);
  [[nodiscard]] acl_log& denials() { return acl_log_; }
  /// Sets the file of the users, or null.
  void set_acl_file(acl_file* file) { acl_file_ = file; }
  [[nodiscard]] acl_file* users_file() const { return acl_file_; }
  /// Called after settings have changed: applies those that concern permissions.
  void apply_permissions();
  /// Called after the option `user` has changed: sets the users that it names, and removes those
  /// that only `earlier` names.
  void apply_user_options(std::span<const std::string> earlier);
  /// Sets the option `user` to the present users. Errors: a user cannot be the value of an option;
  /// the reason says why.
  [[nodiscard]] result<void> keep_users();

  // --- settings
  [[nodiscard]] parameters& settings() { return parameters_; }
  [[nodiscard]] const parameters& settings() const { return parameters_; }
  /// Sets parameters that a client has changed, and calls `on_configured`.
  void configure(parameters changed);
  /// `callback` is called with the options that a client has changed (perhaps none), and their
  /// values.
  void on_configured(std::function<void(const nlohmann::json& options)> callback) {
    on_configured_ = std::move(callback);
  }

  // --- statistics
  [[nodiscard]] cache_statistics& statistics() { return statistics_; }
  [[nodiscard]] std::int64_t started_ms() const { return started_ms_; }
  /// A new id each time that the cache is started.
  [[nodiscard]] const std::string& run_id() const { return run_id_; }

  // --- what commands ask for beyond the engine
  /// Sets the persistence of the data on the disk, or null.
  void set_persistence(persistence* persistence) { persistence_ = persistence; }
  [[nodiscard]] persistence* persisted_by() const { return persistence_; }
  /// Sets the replication with other caches, or null.
  void set_replication(replication* replication) { replication_ = replication; }
  [[nodiscard]] replication* replicated_by() const { return replication_; }
  /// Sets the source of missing keys, or null.
  void set_source(key_source* source) { source_ = source; }
  [[nodiscard]] key_source* source() const { return source_; }
  /// Sets what runs scripts, before the first command.
  void set_evaluator(evaluator* evaluator) { evaluator_ = evaluator; }
  /// Null if there are no scripts.
  [[nodiscard]] evaluator* scripts() const { return evaluator_; }

 private:
  void on_touch(unsigned database, std::string_view key) override;
  void on_clear(unsigned database) override;
  void on_exchange(unsigned database, unsigned other) override;
  void on_exchanged(unsigned database) override;
  void on_event(std::string_view event, std::string_view key, unsigned database) override;

  [[nodiscard]] bool may_retry() const;
  [[nodiscard]] watched_keys::presence presence_of(unsigned database, const std::string& key) const;

  [[nodiscard]] bool is_unrestricted(const client& client) const;
  [[nodiscard]] user default_user_of_options() const;
  void end_forbidden_subscriptions(const user& user);

  keyspace& keys_;
  parameters& parameters_;
  user_table users_;
  std::string applied_password_;  // the option, as the default user has it
  acl_log acl_log_;
  acl_file* acl_file_ = nullptr;
  std::function<void(const nlohmann::json&)> on_configured_;
  std::vector<client*> clients_;
  pubsub pubsub_;
  watched_keys watched_;
  blocked_clients blocked_;
  sync_waits sync_waits_;
  tracking tracking_;
  pause pause_;
  command_feed feed_;
  data_availability availability_;
  interruption interruption_;
  std::function<void(const client& client)> on_wrong_password_;
  cache_statistics statistics_;
  std::int64_t started_ms_;
  std::string run_id_;
  std::uint64_t next_client_ = 1;
  persistence* persistence_ = nullptr;
  replication* replication_ = nullptr;
  key_source* source_ = nullptr;
  evaluator* evaluator_ = nullptr;
};

}  // namespace strata::runtime::cache
