// Hands this daemon's sockets over to a later daemon that asks for them.
//
// For the home loop.
#pragma once

#include <functional>
#include <string>

#include "daemon/takeover/packet.hpp"
#include "loop/loop.hpp"
#include "loop/socket_file.hpp"
#include "loop/task_group.hpp"

namespace strata::daemon::takeover {

class handover {
 public:
  /// What the daemon does in a takeover, on the home loop.
  struct steps {
    /// Stops what two daemons cannot do at once. Its result is a copy of the lock of the state
    /// folder: from then on this daemon writes nothing there. Errors: it cannot; then nothing has
    /// changed.
    std::function<loop::task<result<unique_fd>>()> begin;
    /// The later daemon has given up: this one goes on. Its sockets lie on the shelf.
    std::function<loop::task<>()> take_back;
    /// The later daemon serves: this one is to end.
    std::function<void()> finish;
  };

  handover(loop::loop& loop, std::string state_dir, steps steps)
      : loop_(loop), state_dir_(std::move(state_dir)), steps_(std::move(steps)) {}
  ~handover() { stop(); }
  handover(const handover&) = delete;
  handover& operator=(const handover&) = delete;

  /// Waits for requests at `path`. Errors: those of `loop::listen_for_packets`.
  [[nodiscard]] result<void> listen(const std::string& path);
  /// Waits for no more requests.
  void stop();

 private:
  loop::task<> serve();
  /// Returns whether the later daemon serves.
  loop::task<bool> hand_over(loop::descriptor connection);
  [[nodiscard]] result<void> check(const packet& request) const;
  loop::task<> refuse(const loop::descriptor& connection, const error& why);
  loop::task<result<void>> give(const loop::descriptor& connection,
                                const std::vector<unique_fd>& sockets, const unique_fd& lock);
  loop::task<result<packet>> receive(const loop::descriptor& connection);
  loop::task<result<void>> send(const loop::descriptor& connection, nlohmann::json content,
                                std::span<const unique_fd> descriptors);

  loop::loop& loop_;
  std::string state_dir_;
  steps steps_;
  loop::descriptor listener_;
  loop::socket_file file_;
  loop::task_group serving_;
};

}  // namespace strata::daemon::takeover
