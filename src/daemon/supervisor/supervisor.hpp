// Carries out the requests of users and scripts: operations on one runtime in sequence, those on
// different runtimes concurrently. Look-ups do not wait, however slow the store is. On the home
// loop.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "daemon/store/record_store.hpp"
#include "daemon/supervisor/cluster_view.hpp"
#include "daemon/supervisor/entry_list.hpp"
#include "daemon/supervisor/reconciler.hpp"
#include "daemon/supervisor/relations.hpp"
#include "daemon/supervisor/store_follower.hpp"
#include "loop/loop.hpp"
#include "loop/task_group.hpp"
#include "runtime/runtime.hpp"
#include "runtime/runtime_service.hpp"

namespace strata::daemon {

/// A runtime to create.
struct creation {
  std::string type;
  std::string name;
  nlohmann::json options = nlohmann::json::object();
  bool is_started = false;    ///< it is created only if it starts
  bool is_rehearsal = false;  ///< it is only checked, not created
  std::string origin = {};    ///< as `record::origin`
};

class supervisor final : public runtime::runtime_service {
 public:
  /// `pause_seed` makes the pauses between restarts reproducible for tests; 0: random.
  supervisor(loop::loop& loop, runtime::loop_source& loops, std::unique_ptr<record_store> store,
             std::uint64_t pause_seed = 0);

  /// Creates the runtimes of the records; call it first. A record from which none can be made is
  /// logged and kept. Errors: the store cannot be read.
  loop::task<result<void>> load() { return follower_.load(); }
  /// Starts all runtimes that are to run. A runtime that cannot start is logged, and is `failed`.
  /// With `members` first, those that follow a group wait for its slowest member.
  loop::task<> start_all(group_members members = group_members::in_any_order);
  /// Makes running runtimes read their certificates again.
  loop::task<> read_files_again();
  /// Stops all runtimes, which the next daemon starts again, and waits for the operations under
  /// way. A runtime that has data to deliver has until `limit`.
  loop::task<> shut_down(loop::time_point limit);
  // --- a later daemon takes over, by copies of the listening sockets
  /// Stops what two daemons cannot run at once, such as caches; the other runtimes serve on.
  loop::task<> stop_exclusive(loop::time_point limit);
  /// Starts again what `stop_exclusive` has stopped.
  loop::task<> resume();
  /// No runtime takes connections any more; those that exist are to end in good order, as with
  /// --drain.
  loop::task<> stop_accepting();
  /// The runtimes that `shut_down` still waits for.
  [[nodiscard]] std::vector<std::string> unstopped() const;
  /// Makes `shut_down` give up its waits.
  void hurry();

  loop::task<result<entry_ref>> create(creation ordered);
  loop::task<result<entry_ref>> start(std::string name);
  /// A stop, also one of a restart or a removal, has until `limit`: then undelivered data is given
  /// up, and a runtime that could not save its data keeps running. With a limit in the past nothing
  /// is delivered or saved. A type may have a limit of its own, and a later order's limit ends the
  /// wait of an earlier one.
  loop::task<result<entry_ref>> stop(std::string name,
                                     loop::time_point limit = loop::time_point::max());
  loop::task<result<entry_ref>> restart(std::string name,
                                        loop::time_point limit = loop::time_point::max());
  loop::task<result<entry_ref>> reload(std::string name);
  loop::task<result<void>> remove(std::string name,
                                  loop::time_point limit = loop::time_point::max());
  /// With `expected`, its record must have that revision. Errors: conflict if it has another.
  loop::task<result<runtime::edit_outcome>> edit(std::string name, nlohmann::json changes,
                                                 std::optional<std::uint64_t> expected = {});
  /// Performs an operation of the runtime's type. Errors: conflict if it does not run;
  /// not_supported if its type has no such operation; invalid_argument for the call; the
  /// operation's own.
  loop::task<result<nlohmann::json>> ask(std::string name, std::string operation,
                                         runtime::operation_call call);
  /// As `ask`, for an operation that opens a session.
  loop::task<result<std::unique_ptr<runtime::session>>> open_session(std::string name,
                                                                     std::string operation,
                                                                     runtime::operation_call call);

  loop::task<result<nlohmann::json>> perform(loop::loop& asking,
                                             runtime::service_request request) override;
  [[nodiscard]] net::directory& names() override { return reconciler_.names(); }
  [[nodiscard]] local_directory& local_names() { return reconciler_.directory(); }
  /// Gives the runtimes the names of a cluster instead of those of this daemon alone. Call it
  /// before `load`. `cluster` outlives all requests.
  void join(cluster_view& cluster);
  /// Errors: not_found if this daemon is in no cluster.
  [[nodiscard]] result<cluster_view*> cluster() const;
  void report_daemon(const std::string& daemon, std::string_view event, const std::string& detail) {
    reconciler_.report_daemon(daemon, event, detail);
  }
  /// The events; each line's text is a JSON object.
  [[nodiscard]] runtime::journal& events() override { return reconciler_.events(); }

  /// All runtimes.
  [[nodiscard]] const entry_list& list() const { return reconciler_.list(); }
  [[nodiscard]] result<entry_ref> find(const std::string& name) const { return list().find(name); }
  [[nodiscard]] loop::loop& home() { return home_; }
  [[nodiscard]] const std::string& place() const { return reconciler_.place(); }

 private:
  struct operation_turn;
  loop::task<result<std::unique_ptr<operation_turn>>> take_turn(
      std::string name, std::string operation, const runtime::operation_call& call);
  loop::task<result<nlohmann::json>> perform_here(runtime::service_request request);
  static result<void> check_creation(const runtime::service_request& request,
                                     nlohmann::json& options);
  result<void> check_edit(runtime::service_request& request) const;
  loop::task<result<nlohmann::json>> create_for(runtime::service_request request);
  loop::task<result<nlohmann::json>> ask_for(runtime::service_request request);
  loop::task<result<nlohmann::json>> look_for(runtime::service_request request);
  loop::task<> stored(std::string name);
  /// Makes an entry that is not shown yet, and whose name is taken from now on.
  result<entry_ref> reserve(const creation& ordered);
  /// Steps that have to wait continue in `waiting`.
  loop::task<> start_again(entry_ref subject, loop::task_group& waiting);
  loop::task<> await_port(entry_ref subject);
  loop::task<> stop_accepting(entry_ref subject);
  loop::task<> halt(entry_ref subject, loop::time_point limit);
  [[nodiscard]] const entry_map& entries() const { return list().entries(); }

  loop::loop& home_;
  reconciler reconciler_;
  store_follower follower_;
  cluster_view* cluster_ = nullptr;  // null: it is in none
};

}  // namespace strata::daemon
