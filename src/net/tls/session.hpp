// TLS of one connection, without I/O: sealed bytes in, plain bytes out, and the reverse.
//
// Bytes from the wire are consumed as they are given; of an unfinished record the session keeps a
// copy, at most one record's. Its own messages (the handshake's, answers, alerts) wait in it until
// the next seal. A peer that sends only such messages, or does not take ours, is ended.
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

/// What the two ends of a connection have agreed on.
struct tls_info {
  std::string protocol;      ///< `TLSv1.3`
  std::string cipher;        ///< `TLS_AES_256_GCM_SHA384`
  std::string application;   ///< by ALPN; empty: none
  std::string server_name;   ///< that the client asked for; empty: none
  std::string peer_subject;  ///< of the peer's certificate (RFC 4514); empty: it has none
  bool is_verified = false;  ///< the peer's certificate was verified
  bool is_resumed = false;   ///< by a ticket of an earlier session
};

class tls_session {
 public:
  /// `host`: whose certificate a client wants to see, unless the context names another.
  [[nodiscard]] static result<std::unique_ptr<tls_session>> make(
      std::shared_ptr<const tls_context> context, const std::string& host);
  struct state;
  explicit tls_session(std::unique_ptr<state> state);
  ~tls_session();
  tls_session(const tls_session&) = delete;
  tls_session& operator=(const tls_session&) = delete;

  /// Goes on with the handshake as far as `sealed` allows, which loses what was consumed. True: it
  /// is done, and what is left belongs to `open`. Errors: the peer is to be told what is owed.
  [[nodiscard]] result<bool> shake_hands(byte_span& sealed);
  /// What the peer said; empty when nothing of it is whole yet. After a failure or the peer's end,
  /// always empty.
  [[nodiscard]] loop::buffer open(byte_span sealed);
  /// Why nothing more can be opened.
  [[nodiscard]] const std::optional<error>& failed() const;
  /// The peer has said that it sends nothing more.
  [[nodiscard]] bool peer_has_ended() const;
  /// The wire has ended. Errors: what the peer said may have been cut off there.
  [[nodiscard]] result<void> end_of_wire() const;

  /// What is owed, and then `plain` in records that fill. Nothing, of something: it has failed.
  [[nodiscard]] loop::slice seal(std::span<const loop::slice> plain);
  /// What is owed, and the end; that once.
  [[nodiscard]] loop::slice seal_end();
  [[nodiscard]] bool owes() const;

  /// Known once the handshake is done.
  [[nodiscard]] const tls_info& info() const;

 private:
  std::unique_ptr<state> state_;
};

}  // namespace strata::net
