// Opens the ends of a pipe on a loop: listens, accepts, connects, and performs the TLS and
// WebSocket handshakes.
#pragma once

#include <memory>
#include <optional>

#include "cli/pipe/end.hpp"
#include "net/message_port.hpp"
#include "net/scheme.hpp"
#include "net/tls/context.hpp"

namespace strata::cli {

/// What is open at one end: a stream of bytes, or messages. Exactly one is set.
struct open_end {
  std::unique_ptr<net::stream> bytes = {};
  std::unique_ptr<net::message_port> messages = {};
};

class end_opener {
 public:
  /// Reads the TLS files. The options outlive this object. Errors: those of the files.
  [[nodiscard]] static result<std::unique_ptr<end_opener>> make(loop::loop& loop,
                                                                const pipe_options& options,
                                                                const pipe_ends& ends);

  /// Listens, and reports the address on standard error unless `is_quiet`. Errors: those of the
  /// address.
  [[nodiscard]] loop::task<result<net::listening>> listen(const pipe_end& end, bool is_quiet);
  /// Waits for the next connection, before any handshake.
  [[nodiscard]] loop::task<loop::descriptor> accept(net::listener& listener);
  /// Performs the handshakes with an accepted peer. Errors: name the peer.
  [[nodiscard]] loop::task<result<open_end>> welcome(const pipe_end& end, loop::descriptor peer);
  /// Errors: name the URL.
  [[nodiscard]] loop::task<result<open_end>> connect(const pipe_end& end);

 private:
  end_opener(loop::loop& loop, const pipe_options& options) : loop_(loop), options_(options) {}
  [[nodiscard]] result<void> read_certificates(const pipe_ends& ends);
  [[nodiscard]] loop::time_point limit_of(double seconds) const;

  loop::loop& loop_;
  const pipe_options& options_;
  std::shared_ptr<const net::tls_context> for_client_;
  std::shared_ptr<const net::tls_context> for_server_;
};

}  // namespace strata::cli
