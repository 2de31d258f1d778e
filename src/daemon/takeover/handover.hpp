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
  /// What the later daemon gets besides the sockets.
  struct daemon_state {
    unique_fd lock;           ///< a copy of that of the state folder
    bool is_drained = false;  ///< as of `strata cluster drain`
    std::string cluster_key;  ///< by which it adopts the name in the cluster; empty: not at all
  };

  /// What the daemon does in a takeover, on the home loop.
  struct steps {
    /// Waits until this daemon itself has taken over from the one before it.
    std::function<loop::task<>()> wait;
    /// Stops what two daemons cannot do at once. From then on this daemon writes nothing in the
    /// state folder. Errors: it cannot; then nothing has changed.
    std::function<loop::task<result<daemon_state>>()> begin;
    /// The later daemon has ended: this one goes on. Its sockets lie on the shelf.
    std::function<loop::task<>()> take_back;
    /// The later daemon serves: this one is to end.
    std::function<void()> finish;
  };

  /// `silence_limit`: a later daemon that gives no sign of life for this time is given up.
  handover(loop::loop& loop, std::string state_dir, loop::duration silence_limit, steps steps)
      : loop_(loop),
        state_dir_(std::move(state_dir)),
        silence_limit_(silence_limit),
        steps_(std::move(steps)) {}
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
                                const std::vector<unique_fd>& sockets, const daemon_state& state);
  loop::task<result<packet>> receive(const loop::descriptor& connection, loop::duration limit);
  loop::task<result<void>> await_ready(const loop::descriptor& connection);
  loop::task<> end_other(const loop::descriptor& connection, const loop::descriptor& process,
                         const error& why);
  loop::task<result<void>> send(const loop::descriptor& connection, nlohmann::json content,
                                std::span<const unique_fd> descriptors);

  loop::loop& loop_;
  std::string state_dir_;
  loop::duration silence_limit_;
  steps steps_;
  loop::descriptor listener_;
  loop::socket_file file_;
  loop::task_group serving_;
};

}  // namespace strata::daemon::takeover
