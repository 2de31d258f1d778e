// A TLS connection with blocking calls, for the command line. The daemon uses net::stream.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "net/tls/session.hpp"
#include "strata/base/unique_fd.hpp"

namespace strata::net {

/// Connects to the first of the host's addresses that answers; sends and receives time out after
/// `limit`.
[[nodiscard]] result<unique_fd> connect_blocking(const std::string& host, std::uint16_t port,
                                                 std::chrono::seconds limit);

class blocking_stream {
 public:
  /// Connects and performs the TLS handshake; `limit` applies to each step. Errors: name the fault
  /// of the server, its certificate, or a file of `settings`.
  [[nodiscard]] static result<blocking_stream> connect(const std::string& host, std::uint16_t port,
                                                       const tls_client_settings& settings,
                                                       std::chrono::seconds limit);

  /// Waits until everything is sent.
  [[nodiscard]] result<void> send(byte_span bytes);
  /// Waits for bytes and returns all that have arrived; empty at the end.
  [[nodiscard]] result<std::string> receive();
  /// The descriptor is readable when `receive` may have data; no data is held back from it.
  [[nodiscard]] int fd() const { return fd_.get(); }

 private:
  blocking_stream(unique_fd fd, std::unique_ptr<tls_session> session)
      : fd_(std::move(fd)), session_(std::move(session)) {}
  result<void> shake_hands();
  [[nodiscard]] result<void> send_sealed(const loop::slice& sealed) const;

  unique_fd fd_;
  std::unique_ptr<tls_session> session_;
  std::string early_;  // data that arrived from the server along with its handshake
};

}  // namespace strata::net
