// What of a request a proxy passes on to a backend, and what of the answer it passes on to the
// client: heads without what holds for one connection alone (RFC 9110 section 7.6).
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "proto/http/http1.hpp"

namespace strata::runtime::proxy {

/// Who asks, and by which proxy.
struct forwarding {
  std::string client;             ///< its address, without a port; empty: it has none
  bool is_secure = false;         ///< the client speaks TLS
  bool is_trusted = false;        ///< what it says of those before it is believed
  std::string_view pseudonym;     ///< of the proxy, in Via: so a request that goes round is noticed
  std::string_view backend_host;  ///< for a request that names no host
  std::string websocket_key;      ///< for a WebSocket by HTTP/2, which has none
  bool says_forwarded = false;    ///< says who asks by Forwarded too (RFC 7239)
  std::string request_id = {};    ///< X-Request-Id, unless a trusted client says one; empty: none
  std::string traceparent = {};   ///< the same of the trace context
};

/// A request as a backend gets it, by HTTP/1.1.
struct forwarded_request {
  std::string method;
  std::string target;
  proto::http_fields fields;  ///< without what says where the body ends
  std::string upgrade;        ///< the protocol that it asks for; empty: none
};

/// Why a request is not passed on, and what it is answered.
struct forward_refusal {
  int status = 0;
  std::string reason;
};

[[nodiscard]] std::expected<forwarded_request, forward_refusal> forward(
    const proto::http_request& request, const forwarding& forwarding);

/// The fields of an answer, for the client. With `is_upgraded`, those of an answer of 101.
[[nodiscard]] proto::http_fields answered_fields(proto::http_fields fields, bool is_upgraded);

/// A field that is for one connection, or says where a message ends. `name` in lower case.
[[nodiscard]] bool is_of_one_connection(std::string_view name);

/// Of the fields behind a body, those that may stand there (RFC 9110 section 6.5.1): none that says
/// where it ends, how it is to be read or where it goes, which somebody might take for the head's.
[[nodiscard]] proto::http_fields passed_trailers(proto::http_fields fields);

/// How long the answer's body is, if its head says so.
[[nodiscard]] std::optional<std::uint64_t> length_of(const proto::http_fields& fields);

/// A request that may be sent twice, since that does what sending it once does (RFC 9110 section
/// 9.2.2).
[[nodiscard]] bool is_idempotent(std::string_view method);

}  // namespace strata::runtime::proxy
