// The daemon's runtimes: their names, states and what may be done with them. On the home loop.
//
// Whatever changes what is saved is on disk before its task ends. Operations on one runtime are
// done one after the other; those on different runtimes go side by side.
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "daemon/state_store.hpp"
#include "loop/async_lock.hpp"
#include "loop/loop.hpp"
#include "loop/task_group.hpp"
#include "net/directory.hpp"
#include "runtime/runtime.hpp"

namespace strata::daemon {

enum class run_state : std::uint8_t { created, running, stopped, failed };
[[nodiscard]] std::string_view name_of(run_state state);

struct entry {
  std::string name;
  const runtime::type_row* type = nullptr;
  std::string created_at;
  run_state state = run_state::created;
  std::string reason;  ///< why it failed
  loop::time_point started;
  bool wanted = false;   ///< start it when the daemon starts
  bool removed = false;  ///< no longer in the registry
  bool ended = false;    ///< stopped for good by `shut_down`
  std::shared_ptr<runtime::journal> log;
  std::shared_ptr<runtime::journal> messages;
  std::unique_ptr<runtime::runtime> body;
  loop::async_lock lock;

  [[nodiscard]] double uptime_s(loop::time_point now) const {
    return state == run_state::running ? std::chrono::duration<double>(now - started).count() : 0;
  }
};
using entry_ref = std::shared_ptr<entry>;

class registry final : public net::directory {
 public:
  registry(loop::loop& home, runtime::loop_source& loops, state_store store);

  /// Makes what is saved, and starts what ran. What cannot be is logged and stays `failed`.
  loop::task<> restore();
  /// Stops all, to be started again by the next daemon. A runtime that would deliver something
  /// first has until `limit`.
  loop::task<> shut_down(loop::time_point limit);
  /// Those that `shut_down` still waits for.
  [[nodiscard]] std::vector<std::string> unstopped() const;

  loop::task<result<entry_ref>> create(std::string type, std::string name, nlohmann::json options,
                                       bool start);
  loop::task<result<entry_ref>> start(std::string name);
  loop::task<result<entry_ref>> stop(std::string name);
  loop::task<result<entry_ref>> restart(std::string name);
  loop::task<result<entry_ref>> reload(std::string name);
  loop::task<result<void>> remove(std::string name);
  loop::task<result<runtime::edit_outcome>> edit(std::string name, nlohmann::json changes);
  loop::task<result<runtime::send_outcome>> send(std::string name, std::string message) const;

  [[nodiscard]] result<entry_ref> find(const std::string& name) const;
  loop::task<result<std::vector<net::endpoint_url>>> find_endpoints(loop::loop& asking,
                                                                    std::string name) override;
  [[nodiscard]] const std::map<std::string, entry_ref>& all() const { return entries_; }
  [[nodiscard]] std::vector<std::string> children(const std::string& name) const;
  /// What happened; each line's text is a JSON object.
  [[nodiscard]] runtime::journal& events() { return events_; }
  [[nodiscard]] loop::loop& home() { return home_; }
  [[nodiscard]] const std::string& state_folder() const { return store_.folder(); }

 private:
  result<entry_ref> make(const runtime::type_row& type, const std::string& name,
                         const nlohmann::json& options);
  result<void> save(const entry& what) const;
  void tell(const entry& about, std::string_view event, const std::string& detail = {});
  loop::task<> start_again(entry_ref who);
  loop::task<> stop_for_now(entry_ref who, loop::time_point limit);
  loop::task<result<entry_ref>> locked_start(entry_ref who);
  loop::task<result<void>> locked_stop(entry_ref who);
  loop::task<result<void>> locked_remove(entry_ref who);
  loop::task<> end_children(std::string name);
  loop::task<> end_failed(entry_ref who);
  /// Another runtime that listens where `newcomer` is to listen.
  struct collision {
    std::string holder;
    std::string theirs;
    std::string ours;
    bool is_of_frames;  ///< of which both would get copies
  };
  [[nodiscard]] std::optional<collision> find_collision(const entry& newcomer) const;
  [[nodiscard]] result<void> check_frames_are_for_one(const entry& newcomer) const;
  void explain_conflict(const entry& loser, error& failed) const;
  void explain_file_conflict(const entry& loser, error& failed) const;
  result<void> check_owner(const std::string& name, const nlohmann::json& options) const;
  [[nodiscard]] result<std::vector<net::endpoint_url>> endpoints_of(const std::string& name) const;
  result<void> check_needs(const std::string& name, const runtime::runtime& body) const;
  [[nodiscard]] std::vector<std::string> running_that_need(const std::string& name) const;
  using rank = std::vector<entry_ref>;
  /// What may start, or stop, side by side: each needs only what is in ranks before its own.
  [[nodiscard]] std::vector<rank> by_needs() const;

  loop::loop& home_;
  runtime::loop_source& loops_;
  state_store store_;
  runtime::journal events_;
  loop::async_lock binding_;
  std::map<std::string, entry_ref> entries_;
  bool stopping_ = false;
  loop::task_group endings_;
};

}  // namespace strata::daemon
