// A connection to the daemon: by its socket, or with TLS from afar.
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

  /// False when the daemon has taken nothing for as long as may be waited. A daemon that refuses a
  /// long request may answer and close before it has read all of it: so what else cannot be sent is
  /// no failure as long as there is an answer.
  [[nodiscard]] virtual bool send(std::string_view bytes) = 0;
  /// Waits for bytes; none at the end. Errors: timed_out.
  [[nodiscard]] virtual result<std::string> receive() = 0;
  /// For poll(): readable when `receive` will not wait for long.
  [[nodiscard]] virtual int fd() const = 0;

  /// From now on nothing is waited for longer than this; zero: for ever.
  void wait_at_most(std::chrono::milliseconds limit) const;
};

/// At a path, or at https://HOST:PORT: then STRATA_CA is a file of the authorities that may
/// have signed the daemon's certificate (else the system's), and STRATA_CLIENT_CERT and
/// STRATA_CLIENT_KEY what to show. Errors: unreachable, misused.
[[nodiscard]] outcome<std::unique_ptr<wire>> connect_to_daemon(const daemon_address& daemon);

/// STRATA_TOKEN, which a daemon far away may ask for; empty: none.
[[nodiscard]] std::string token_of_environment();

}  // namespace strata::cli
