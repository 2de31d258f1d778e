// The daemon that this one takes over from, as the new daemon sees it.
//
// `ask` waits for the other daemon, so use it before there is a loop.
#pragma once

#include <optional>
#include <string>

#include "loop/loop.hpp"
#include "loop/task.hpp"
#include "strata/base/result.hpp"
#include "strata/base/unique_fd.hpp"

namespace strata::daemon::takeover {

/// The path at which a daemon with that control socket can be asked to hand over.
[[nodiscard]] std::string path_for(const std::string& control_socket);

class predecessor {
 public:
  /// Asks the daemon with that control socket to hand over, and waits until it has: its listening
  /// sockets then lie on this process's shelf. Nullopt if there is none; if it ends meanwhile, the
  /// sockets that it has sent stay on the shelf. Errors: its refusal; permission_denied if it runs
  /// as another user; connection_closed if it goes on without an answer.
  [[nodiscard]] static result<std::optional<predecessor>> ask(const std::string& control_socket,
                                                              const std::string& state_dir);

  /// The lock of the state folder, which both daemons hold now.
  [[nodiscard]] unique_fd take_lock() { return std::move(lock_); }
  /// Whether the other daemon was drained in its cluster.
  [[nodiscard]] bool is_drained() const { return is_drained_; }
  /// By which this daemon adopts the name of the other one in its cluster; empty: not at all.
  [[nodiscard]] const std::string& cluster_key() const { return cluster_key_; }
  /// Tells the other daemon that this one lives: it gives up one that says nothing.
  void report_life() const;
  /// Has the other daemon end. If this process ends before, the other one goes on.
  void end() const;
  /// Waits until the other daemon has ended, or no longer wants its state. Nullopt: this daemon has
  /// taken over. Else the other one goes on, for this reason, as soon as this process has ended.
  [[nodiscard]] loop::task<std::optional<std::string>> await_outcome(loop::loop& loop) const;

 private:
  predecessor(unique_fd connection, unique_fd lock, bool is_drained, std::string cluster_key)
      : connection_(std::move(connection)),
        lock_(std::move(lock)),
        is_drained_(is_drained),
        cluster_key_(std::move(cluster_key)) {}
  static result<std::optional<predecessor>> ask_once(const std::string& path,
                                                     const std::string& state_dir,
                                                     const std::string& operation);

  unique_fd connection_;
  unique_fd lock_;
  bool is_drained_;
  std::string cluster_key_;
};

}  // namespace strata::daemon::takeover
