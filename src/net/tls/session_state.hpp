// The contents of a TLS session: OpenSSL's state, and the two ends of the wire. For net/tls alone.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "loop/slice.hpp"
#include "net/tls/openssl.hpp"
#include "net/tls/session.hpp"

namespace strata::net {

/// Tracks where records begin and end in the bytes read.
class record_counter {
 public:
  void pass(byte_span bytes);
  /// Bytes read of an unfinished record.
  [[nodiscard]] std::size_t unfinished() const { return unfinished_; }
  /// Records begun since `forget()`.
  [[nodiscard]] std::size_t begun() const { return begun_; }
  void forget() { begun_ = 0; }

 private:
  static constexpr std::size_t header_size = 5;
  std::array<std::byte, header_size> header_{};
  std::size_t header_bytes_ = 0;
  std::size_t body_left_ = 0;
  std::size_t unfinished_ = 0;
  std::size_t begun_ = 0;
};

/// Sealed bytes queued for the next seal.
class outgoing {
 public:
  outgoing() = default;
  outgoing(const outgoing&) = delete;
  outgoing& operator=(const outgoing&) = delete;
  ~outgoing();

  [[nodiscard]] std::size_t size() const { return held_ == nullptr ? 0 : held_->size(); }
  void reserve(std::size_t more);
  void append(byte_span bytes);
  [[nodiscard]] loop::slice take();

 private:
  loop::chunk* held_ = nullptr;
};

struct tls_session::state {
  std::shared_ptr<const tls_context> by;  // outlives `ssl`
  std::string host;
  ssl_pointer ssl;
  byte_span input;  // set during OpenSSL calls
  record_counter records;
  outgoing out;
  std::size_t handshake_bytes = 0;
  bool is_done = false;  // the handshake is done
  bool peer_has_ended = false;
  bool has_said_end = false;
  std::optional<error> failed;
  x509_pointer refused;  // the certificate at which the peer's chain failed
  tls_info info;
};

/// Makes `of.ssl` read from `of.input` and write to `of.out`. False if memory is short.
[[nodiscard]] bool connect_wire(tls_session::state& state);

}  // namespace strata::net
