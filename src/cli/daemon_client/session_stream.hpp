// A session of the daemon: a WebSocket over a blocking connection.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/daemon_client/wire.hpp"
#include "cli/line/outcome.hpp"
#include "proto/websocket/websocket.hpp"

namespace strata::cli {

class session_stream {
 public:
  /// The connection has been upgraded; `early` are the bytes behind the answer.
  session_stream(std::unique_ptr<wire> connection, std::string early);

  /// Sends a message, and waits until the kernel has taken it.
  void send(std::string_view message);
  /// Waits for bytes, and returns the messages that are complete. Errors: failed, if the daemon
  /// breaks the protocol or the connection fails.
  [[nodiscard]] outcome<std::vector<std::string>> receive();
  /// Whether the daemon has ended it: no message follows.
  [[nodiscard]] bool has_ended() const { return has_ended_; }
  /// For poll(): readable if `receive` will not block. If it is writable, a message of 4 KiB is
  /// sent without waiting.
  [[nodiscard]] int fd() const { return connection_->fd(); }
  /// Whether there are bytes for `receive` that `fd` does not show.
  [[nodiscard]] bool has_early() const { return !early_.empty(); }

 private:
  void push(proto::websocket_opcode opcode, std::string_view payload);
  void take(const proto::websocket_event& event, std::vector<std::string>& messages);

  std::unique_ptr<wire> connection_;
  std::string early_;
  proto::websocket_reader reader_;
  bool has_ended_ = false;
};

/// A new Sec-WebSocket-Key.
[[nodiscard]] std::string new_websocket_key();

}  // namespace strata::cli
