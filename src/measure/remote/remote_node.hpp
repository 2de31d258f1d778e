// The far end of the benchmark on another machine, brought there and run there by ssh.
//
// This program is copied into a folder that only the remote user can enter, and runs as root; the
// bench talks to it through the ssh connection, so that it listens nowhere. The folder is held by a
// command that removes it when its input ends. So both the node and the folder go with this object,
// and also when this process is killed or the connection breaks.
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
  std::string interface;  ///< that is measured there
  std::string folder;     ///< where the private folder is made; empty: $TMPDIR there, or /tmp
  /// Asked only if the remote user is not root and `sudo` wants it.
  std::function<result<std::string>()> sudo_password;
  std::function<void(const std::string&)> tell;  ///< what is being done, for a person who waits
};

class remote_node {
 public:
  /// Errors: those of remote_shell; not_found (no such interface there), not_supported (another
  /// kind of machine, or this program does not run there), permission_denied (not root, and no
  /// sudo), each saying what to do.
  [[nodiscard]] static result<remote_node> start(const remote_node_options& options);

  /// To be asked once. It must go before this object.
  [[nodiscard]] node_client take_node() { return node_client(std::move(*line_)); }
  /// The plain C program is there too.
  [[nodiscard]] bool has_plain() const { return has_plain_; }

 private:
  explicit remote_node(remote_shell shell) : shell_(std::move(shell)) {}

  result<void> look(const remote_node_options& options);
  result<void> copy(const remote_node_options& options);
  result<void> copy_libraries();
  result<void> become_root(const remote_node_options& options);
  result<void> run(const std::string& interface);

  remote_shell shell_;
  std::unique_ptr<remote_command> holder_;  // of the folder
  std::string folder_;
  std::string program_;      // there
  std::string environment_;  // what precedes the program: `env NAME=VALUE `, or nothing
  std::string prefix_;       // what makes it root: `sudo …`, or nothing
  std::string password_;     // that sudo then reads first
  std::optional<control_line> line_;
  bool is_root_ = false;
  bool has_plain_ = false;
};

}  // namespace strata::measure
