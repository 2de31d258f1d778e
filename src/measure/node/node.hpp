// One end of the benchmark: does what the bench asks over a control line.
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

/// Serves until the bench goes. A node on `only_interface` uses no other and changes none; without
/// one it does as the bench, whose child it is, says, which may move it into another network
/// namespace. Its UDP and TCP sockets are at `address`, which may be empty: then it has none.
/// Errors: of the control line.
[[nodiscard]] result<void> serve(control_line line,
                                 const std::optional<std::string>& only_interface,
                                 const std::string& address);

/// Binds this thread, and those it starts, to the `index`-th core that it may use, if there is one.
void pin_to_core(std::size_t index);

/// The far end on another machine: waits for benches at `address`:`port`, one after the other, and
/// tells of them. Returns only with an error, or after the first bench if `once`.
[[nodiscard]] result<void> run_far_node(const std::string& interface, const std::string& address,
                                        std::uint16_t port, bool once,
                                        const std::function<void(const std::string&)>& tell);

/// The far end whose standard input and output lead to the bench, through ssh: it says
/// `{"node": "ready"}`, and ends when its input does.
[[nodiscard]] result<void> run_far_node_on_stdio(const std::string& interface);

/// A node that the bench talks to.
class node_client {
 public:
  /// A child process on the `core`-th core. It ends with this object, or with this process however
  /// that ends.
  [[nodiscard]] static result<node_client> start(std::size_t core);
  /// A `strata bench node` on another machine.
  [[nodiscard]] static result<node_client> connect(const std::string& host, std::uint16_t port);

  /// A far end that has been started, behind the line.
  explicit node_client(control_line line) : line_(std::move(line)) {}

  [[nodiscard]] result<nlohmann::json> ask(const nlohmann::json& value) { return line_.ask(value); }
  /// 0: it is on another machine.
  [[nodiscard]] pid_t process_id() const { return node_.id(); }

 private:
  node_client(control_line line, process::child node)
      : line_(std::move(line)), node_(std::move(node)) {}

  control_line line_;
  // In the midst of a measurement it would not end when the line closes: it is ended.
  process::child node_;
};

}  // namespace strata::measure
