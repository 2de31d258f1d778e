// A connection to the daemon: by its socket, or remotely with TLS.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "cli/line/daemon_address.hpp"
#include "cli/line/outcome.hpp"
#include "strata/base/result.hpp"

namespace strata::cli {

class wire {
 public:
  wire() = default;
  wire(const wire&) = delete;
  wire& operator=(const wire&) = delete;
  virtual ~wire() = default;

  /// Returns false if the daemon has read nothing for the time limit. A daemon that refuses a long
  /// request may answer and close before it has read all of it: so data that cannot be sent is no
  /// failure as long as there is an answer.
  [[nodiscard]] virtual bool send(std::string_view bytes) = 0;
  /// Waits for bytes; empty at the end. Errors: timed_out.
  [[nodiscard]] virtual result<std::string> receive() = 0;
  /// For poll(): readable if `receive` will not block for long.
  [[nodiscard]] virtual int fd() const = 0;

  /// Limits every later wait; zero: no limit.
  void wait_at_most(std::chrono::milliseconds limit) const;
};

/// Connects to a path, or to https://HOST:PORT: then STRATA_CA is a file of the authorities that
/// may have signed the daemon's certificate (default: the system's), and STRATA_CLIENT_CERT and
/// STRATA_CLIENT_KEY are the client's own. Errors: unreachable, misused.
[[nodiscard]] outcome<std::unique_ptr<wire>> connect_to_daemon(const daemon_address& daemon);

/// STRATA_TOKEN, which a remote daemon may require; empty: none.
[[nodiscard]] std::string token_of_environment();

}  // namespace strata::cli
