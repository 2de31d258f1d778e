// The far end of the benchmark on another machine, copied and run there by ssh.
//
// This program is copied into a folder that only the remote user can enter, and runs as root; the
// bench uses the ssh connection, so the program listens nowhere. A command holds the folder and
// removes it when its input ends. So both the node and the folder are removed with this object, and
// also when this process is killed or the connection breaks.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "measure/node/node.hpp"
#include "measure/remote/remote_shell.hpp"
#include "strata/base/result.hpp"

namespace strata::measure {

struct remote_node_options {
  remote_shell_options shell;
  std::string interface;  ///< the measured interface on the other machine
  std::string folder;     ///< parent of the private folder; empty: $TMPDIR there, or /tmp
  /// Called only if the remote user is not root and `sudo` requires a password.
  std::function<result<std::string>()> sudo_password;
  std::function<void(const std::string&)> report;  ///< receives the current step, for the waiting
                                                   ///< user
};

class remote_node {
 public:
  /// Errors: those of remote_shell; not_found (no such interface there), not_supported (another
  /// kind of machine, or this program does not run there), permission_denied (not root, and no
  /// sudo), each with a remedy.
  [[nodiscard]] static result<remote_node> start(const remote_node_options& options);

  /// Returns the node, once. It must be destroyed before this object.
  [[nodiscard]] node_client take_node() { return node_client(std::move(*line_)); }
  /// Reports whether the plain C program is there too.
  [[nodiscard]] bool has_plain() const { return has_plain_; }

 private:
  explicit remote_node(remote_shell shell) : shell_(std::move(shell)) {}

  result<void> look(const remote_node_options& options);
  result<void> copy(const remote_node_options& options);
  result<void> copy_libraries();
  result<void> become_root(const remote_node_options& options);
  result<void> run(const std::string& interface);

  remote_shell shell_;
  std::unique_ptr<remote_command> holder_;  // holds the folder
  std::string folder_;
  std::string program_;      // its path there
  std::string environment_;  // prefix of the program: `env NAME=VALUE `, or nothing
  std::string prefix_;       // prefix to become root: `sudo …`, or nothing
  std::string password_;     // that sudo reads first
  std::optional<control_line> line_;
  bool is_root_ = false;
  bool has_plain_ = false;
};

}  // namespace strata::measure
