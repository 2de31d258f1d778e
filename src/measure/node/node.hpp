// One end of the benchmark: carries out the bench's requests from a control line.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>

#include "measure/node/control.hpp"
#include "process/child.hpp"
#include "strata/base/result.hpp"
#include "strata/base/unique_fd.hpp"

namespace strata::measure {

/// Serves until the bench disconnects. A node on `only_interface` uses no other interface and
/// changes none; without it, the node is a child of the bench and does what the bench requests,
/// which may move it into another network namespace. Its UDP and TCP sockets are at `address`; if
/// that is empty, it has none. Errors: those of the control line.
[[nodiscard]] result<void> serve(control_line line,
                                 const std::optional<std::string>& only_interface,
                                 const std::string& address);

/// Binds this thread, and threads that it starts, to the `index`-th core that it may use, if there
/// is one.
void pin_to_core(std::size_t index);

/// Runs the far end on another machine: waits for benches at `address`:`port`, one after another,
/// and reports them to `report`. Returns only with an error, or after the first bench if `once`.
[[nodiscard]] result<void> run_far_node(const std::string& interface, const std::string& address,
                                        std::uint16_t port, bool once,
                                        const std::function<void(const std::string&)>& report);

/// Runs the far end whose standard input and output lead to the bench, through ssh: writes
/// `{"node": "ready"}`, and ends when its input does.
[[nodiscard]] result<void> run_far_node_on_stdio(const std::string& interface);

/// A node, as the bench uses it.
class node_client {
 public:
  /// Starts a child process on the `core`-th core. It ends with this object, and with this process
  /// however that ends.
  [[nodiscard]] static result<node_client> start(std::size_t core);
  /// Connects to a `strata bench node` on another machine.
  [[nodiscard]] static result<node_client> connect(const std::string& host, std::uint16_t port);

  /// Uses a far end that has been started, through its control line.
  explicit node_client(control_line line) : line_(std::move(line)) {}

  [[nodiscard]] result<nlohmann::json> ask(const nlohmann::json& value) { return line_.ask(value); }
  /// 0 if it is on another machine.
  [[nodiscard]] pid_t process_id() const { return node_.id(); }

 private:
  node_client(control_line line, process::child node)
      : line_(std::move(line)), node_(std::move(node)) {}

  control_line line_;
  // Killed at the end: during a measurement, it would not end when the line closes.
  process::child node_;
};

}  // namespace strata::measure
