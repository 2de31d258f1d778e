// A connection with TLS for a program that waits: the command line. The daemon has net::stream.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "net/tls/session.hpp"
#include "strata/base/unique_fd.hpp"

namespace strata::net {

/// The first of the host's addresses that answers; sending and receiving time out after `limit`.
[[nodiscard]] result<unique_fd> connect_blocking(const std::string& host, std::uint16_t port,
                                                 std::chrono::seconds limit);

class blocking_stream {
 public:
  /// Connects and agrees on TLS; `limit` is for each step. Errors: name what is wrong with the
  /// server, its certificate, or a file of `settings`.
  [[nodiscard]] static result<blocking_stream> connect(const std::string& host, std::uint16_t port,
                                                       const tls_client_settings& settings,
                                                       std::chrono::seconds limit);

  /// Waits until all is sent.
  [[nodiscard]] result<void> send(byte_span bytes);
  /// Waits for bytes, and gives all that have come; none at the end.
  [[nodiscard]] result<std::string> receive();
  /// Readable when `receive` may have something; nothing is kept back from it.
  [[nodiscard]] int fd() const { return fd_.get(); }

 private:
  blocking_stream(unique_fd fd, std::unique_ptr<tls_session> session)
      : fd_(std::move(fd)), session_(std::move(session)) {}
  result<void> shake_hands();
  [[nodiscard]] result<void> send_sealed(const loop::slice& sealed) const;

  unique_fd fd_;
  std::unique_ptr<tls_session> session_;
  std::string early_;  // said by the server in one breath with its handshake
};

}  // namespace strata::net
