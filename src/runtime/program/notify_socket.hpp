// The socket at which a program reports its state, in the form of sd_notify(3).
//
// For one loop's thread.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

#include "strata/base/result.hpp"
#include "strata/base/unique_fd.hpp"

namespace strata::runtime::program {

/// What one message reports.
struct notification {
  bool is_ready = false;     ///< READY=1
  bool is_alive = false;     ///< WATCHDOG=1
  std::string status = {};   ///< STATUS=…, without unprintable bytes
  bool has_status = false;   ///< the status may be empty
  bool is_stopping = false;  ///< STOPPING=1
  bool operator==(const notification&) const = default;
};

/// Reads a message: one assignment a line. Unknown ones are passed over.
[[nodiscard]] notification read_notification(std::string_view message);

class notify_socket {
 public:
  /// Opens a socket with an abstract name that the kernel chooses (unix(7)). Errors: no descriptor
  /// is left.
  [[nodiscard]] static result<notify_socket> open();

  /// Takes over one that is open. Errors: it is no such socket.
  [[nodiscard]] static result<notify_socket> adopt(unique_fd socket);

  /// The value of NOTIFY_SOCKET for the program.
  [[nodiscard]] const std::string& address() const { return address_; }
  [[nodiscard]] int fd() const { return fd_.get(); }
  /// Gives up the descriptor: the caller closes it.
  [[nodiscard]] int release() { return fd_.release(); }

 private:
  notify_socket(unique_fd fd, std::string address)
      : fd_(std::move(fd)), address_(std::move(address)) {}

  unique_fd fd_;
  std::string address_;
};

/// Takes the next message from such a socket. Messages of processes that belong neither to `user`
/// nor to root are dropped, since anybody may send to the name. Nullopt if none is left.
[[nodiscard]] std::optional<notification> take_notification(int socket, uid_t user);

}  // namespace strata::runtime::program
