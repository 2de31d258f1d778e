// How the daemon takes over from an earlier one, and passes to a later one.
#include <signal.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "daemon/daemon_parts.hpp"
#include "daemon/takeover/handover_folder.hpp"
#include "loop/socket_file.hpp"

namespace strata::daemon {

using namespace std::chrono_literals;

loop::task<> daemon::report_life_to_predecessor() {
  for (; predecessor_; co_await home_.sleep(1s)) predecessor_->report_life();
}

// If the daemon before it is gone, whether it was asked to go or not, this one serves. If that one
// has given this one up, it waits for the end of this process before it goes on.
loop::task<> daemon::await_predecessor() {
  const auto reason = co_await predecessor_->await_outcome(home_);
  if (reason) {
    spdlog::error(
        "cannot take over: the daemon before this one has given it up: {}; that one goes on",
        *reason);
    spdlog::default_logger()->flush();
    std::_Exit(1);
  }
  const bool is_restored = co_await restored_.wait([this] { return is_restored_; });
  if (!is_restored) co_return;
  predecessor_.reset();
  takeover::remove_handover_folder(supervisor_.place());
  predecessor_ended_.notify();
}

void daemon::follow(std::optional<takeover::predecessor> predecessor, takeover::own_command command,
                    const options::daemon_options& options) {
  predecessor_ = std::move(predecessor);
  successor_ = std::make_unique<takeover::successor>(home_, std::move(command));
  takeover::handover::steps steps{.wait = [this] { return await_own_takeover(); },
                                  .begin = [this, options] { return begin_handover(options); },
                                  .take_back = [this, options] { return take_back(options); },
                                  .finish =
                                      [this] {
                                        is_handed_over_ = true;
                                        // It ends like any other daemon.
                                        ::kill(::getpid(), SIGTERM);
                                      }};
  handover_ = std::make_unique<takeover::handover>(
      home_, options.state_dir, loop::from_seconds(std::max(options.takeover_timeout, 2.0)),
      std::move(steps));
  // Its path is longer than that of the control socket, perhaps too long.
  const auto listening = handover_->listen(takeover::path_for(options.socket));
  if (!listening) spdlog::warn("no daemon can take over: {}", describe(listening.error()));
}

loop::task<> daemon::await_own_takeover() {
  const bool has_ended = co_await predecessor_ended_.wait([this] { return !predecessor_; });
  (void)has_ended;
}

loop::task<result<takeover::handover::daemon_state>> daemon::begin_handover(
    options::daemon_options options) {
  auto made = takeover::make_handover_folder(options.state_dir);
  if (!made) co_return std::unexpected(made.error());
  loop::socket_file::keep_all(true);
  co_await api_.stop_accepting();
  auto lock = store_.hand_over();
  auto cluster_key = cluster_ ? cluster_->hand_over() : "";
  const auto limit = home_.now() + loop::from_seconds(options.drain_timeout);
  co_await supervisor_.stop_exclusive(limit);
  co_return takeover::handover::daemon_state{.lock = std::move(lock),
                                             .is_drained = cluster_ && cluster_->is_drained(),
                                             .cluster_key = std::move(cluster_key)};
}

loop::task<> daemon::take_back(options::daemon_options options) {
  store_.take_back();
  co_await supervisor_.resume();
  if (cluster_) cluster_->take_back();
  takeover::remove_handover_folder(options.state_dir);
  const auto listening = listen_for_requests(options);
  if (!listening) spdlog::error("{}", describe(listening.error()));
  api_.begin();
  loop::socket_file::keep_all(false);
}

loop::task<> daemon::finish_handover() {
  successor_->release();
  spdlog::info("another daemon has taken over: the connections of this one end");
  co_await supervisor_.stop_accepting();
}

}  // namespace strata::daemon
