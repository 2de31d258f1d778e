// The daemon that this one takes over from, as the new daemon sees it.
//
// It waits for the other daemon, so use it before there is a loop.
#pragma once

#include <optional>
#include <string>

#include "strata/base/result.hpp"
#include "strata/base/unique_fd.hpp"

namespace strata::daemon::takeover {

/// The path at which a daemon with that control socket can be asked to hand over.
[[nodiscard]] std::string path_for(const std::string& control_socket);

class predecessor {
 public:
  /// Asks the daemon with that control socket to hand over, and waits until it has: its listening
  /// sockets then lie on this process's shelf. Nullopt if there is none. Errors: its refusal;
  /// permission_denied if it runs as another user; connection_closed if it has ended meanwhile.
  [[nodiscard]] static result<std::optional<predecessor>> ask(const std::string& control_socket,
                                                              const std::string& state_dir);

  /// The lock of the state folder, which both daemons hold now.
  [[nodiscard]] unique_fd take_lock() { return std::move(lock_); }
  /// Has the other daemon end. If this object is destroyed before, the other one goes on.
  void end() const;

 private:
  predecessor(unique_fd connection, unique_fd lock)
      : connection_(std::move(connection)), lock_(std::move(lock)) {}

  unique_fd connection_;
  unique_fd lock_;
};

}  // namespace strata::daemon::takeover
