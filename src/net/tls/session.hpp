// TLS of one connection, without I/O: sealed bytes in, plain bytes out, and the reverse.
//
// Bytes from the wire are consumed as they are given; the session keeps a copy of an unfinished
// record only, at most one. Its own messages (the handshake's, answers, alerts) are queued until
// the next seal. A session ends if its peer sends only such messages, or does not read ours.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "loop/request.hpp"
#include "loop/slice.hpp"
#include "net/tls/context.hpp"
#include "strata/base/result.hpp"

namespace strata::net {

/// What the two ends of a connection have negotiated.
struct tls_info {
  std::string protocol;      ///< `TLSv1.3`
  std::string cipher;        ///< `TLS_AES_256_GCM_SHA384`
  std::string application;   ///< by ALPN; empty if none
  std::string server_name;   ///< requested by the client; empty if none
  std::string peer_subject;  ///< of the peer's certificate (RFC 4514); empty if it has none
  bool is_verified = false;  ///< the peer's certificate was verified
  bool is_resumed = false;   ///< resumed with a ticket of an earlier session
};

class tls_session {
 public:
  /// Makes a session. `host`: the name that a client expects in the certificate, unless the context
  /// sets another.
  [[nodiscard]] static result<std::unique_ptr<tls_session>> make(
      std::shared_ptr<const tls_context> context, const std::string& host);
  struct state;
  explicit tls_session(std::unique_ptr<state> state);
  ~tls_session();
  tls_session(const tls_session&) = delete;
  tls_session& operator=(const tls_session&) = delete;

  /// Continues the handshake as far as `sealed` allows, and removes what it consumed. Returns true
  /// when the handshake is done; what is left belongs to `open`. Errors: send the peer what is
  /// owed.
  [[nodiscard]] result<bool> shake_hands(byte_span& sealed);
  /// Returns the peer's data; empty if no record is complete yet. Always empty after a failure or
  /// the peer's end.
  [[nodiscard]] loop::buffer open(byte_span sealed);
  /// Why nothing more can be opened.
  [[nodiscard]] const std::optional<error>& failed() const;
  /// Whether the peer has signalled that it sends nothing more.
  [[nodiscard]] bool peer_has_ended() const;
  /// Reports the end of the wire. Errors: the peer's data may have been truncated there.
  [[nodiscard]] result<void> end_of_wire() const;

  /// Returns what is owed, then `plain` in full records. Empty for non-empty input: it has failed.
  [[nodiscard]] loop::slice seal(std::span<const loop::slice> plain);
  /// Returns what is owed, and the end; only once.
  [[nodiscard]] loop::slice seal_end();
  [[nodiscard]] bool owes() const;

  /// Valid once the handshake is done.
  [[nodiscard]] const tls_info& info() const;

 private:
  std::unique_ptr<state> state_;
};

}  // namespace strata::net
