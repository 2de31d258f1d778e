// The daemon's parts, which live as long as it runs, in the order of their creation.
//
// For the home loop.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/api/control_api.hpp"
#include "daemon/broker/socket_broker.hpp"
#include "daemon/cluster/cluster_node.hpp"
#include "daemon/loop_threads.hpp"
#include "daemon/readiness.hpp"
#include "daemon/store/file_record_store.hpp"
#include "daemon/supervisor/log_output.hpp"
#include "daemon/supervisor/supervisor.hpp"
#include "daemon/takeover/handover.hpp"
#include "daemon/takeover/predecessor.hpp"
#include "daemon/takeover/successor.hpp"
#include "loop/condition.hpp"
#include "loop/task_group.hpp"
#include "options/daemon_options.hpp"
#include "process/keeper_list.hpp"
#include "runtime/tls_identity.hpp"

namespace strata::daemon {

class daemon {
 public:
  daemon(loop::loop& loop, loop::backend_kind kind, std::size_t most_loops,
         std::unique_ptr<file_record_store> store, std::shared_ptr<log_output> output,
         readiness& ready);

  result<void> listen(const options::daemon_options& options);
  /// Opens the listeners of the control API.
  result<void> listen_for_requests(const options::daemon_options& options);
  /// Joins the cluster that the options name, if any, once the daemon runs.
  result<void> join(const options::daemon_options& options);
  /// Reads the certificates shown to remote clients, and the tokens required of them.
  result<void> read_identity(const options::daemon_options& options);
  result<void> listen_remote(const options::daemon_options& options);
  result<void> listen_metrics(const options::daemon_options& options);
  /// It takes over from this daemon, and lets a later one take over from it.
  void follow(std::optional<takeover::predecessor> predecessor, takeover::own_command command,
              const options::daemon_options& options);
  /// Returns the process' exit code.
  int run(unique_fd signals, double drain_timeout);

 private:
  loop::task<> read_again();
  loop::task<> live(loop::descriptor signals, double drain_timeout);
  loop::task<> bring_up();
  void answer_from_now_on();
  loop::task<> report_life_to_predecessor();
  loop::task<> await_predecessor();
  loop::task<> await_own_takeover();
  loop::task<result<takeover::handover::daemon_state>> begin_handover(
      options::daemon_options options);
  loop::task<> take_back(options::daemon_options options);
  loop::task<> finish_handover();
  void end_strays(const std::vector<process::keeper_file>& kept);
  loop::task<> report_life(loop::duration interval);
  [[noreturn]] void give_up();

  loop::loop& home_;
  std::shared_ptr<log_output> output_;
  readiness& ready_;
  loop_threads loops_;
  file_record_store& store_;  // the supervisor's
  supervisor supervisor_;
  std::unique_ptr<cluster_node> cluster_;  // null: it is in none
  std::shared_ptr<runtime::journal> log_ = std::make_shared<runtime::journal>();
  runtime::tls_identity identity_{home_, log_};
  std::string token_file_;  // empty: none is read
  control_api api_;
  socket_broker socket_broker_;
  std::optional<takeover::predecessor> predecessor_;
  loop::condition predecessor_ended_{home_};
  bool is_restored_ = false;
  loop::condition restored_{home_};
  std::unique_ptr<takeover::successor> successor_;
  std::unique_ptr<takeover::handover> handover_;
  bool is_handed_over_ = false;
  bool failed_ = false;
  loop::task_group starting_;
};

}  // namespace strata::daemon
