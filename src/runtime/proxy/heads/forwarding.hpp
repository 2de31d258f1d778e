// The parts of a request and an answer that a proxy passes on: heads without the fields of one
// connection (RFC 9110 section 7.6).
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "proto/http/http1.hpp"

namespace strata::runtime::proxy {

/// The client, and the proxy that forwards its request.
struct forwarding {
  std::string client;             ///< its address without a port; empty if it has none
  bool is_secure = false;         ///< the client speaks TLS
  bool is_trusted = false;        ///< its own forwarding fields are trusted
  std::string_view pseudonym;     ///< name of the proxy in Via: reveals a request that loops
  std::string_view backend_host;  ///< for a request without a host
  std::string websocket_key;      ///< for a WebSocket by HTTP/2, which has no key
  bool says_forwarded = false;    ///< also adds Forwarded (RFC 7239)
  std::string request_id = {};    ///< X-Request-Id, unless a trusted client sends one; empty: none
  std::string traceparent = {};   ///< likewise for the trace context
};

/// A request as the backend receives it, for HTTP/1.1.
struct forwarded_request {
  std::string method;
  std::string target;
  proto::http_fields fields;  ///< without framing fields
  std::string upgrade;        ///< the requested protocol; empty: none
};

/// Why a request is not passed on, and the status of its answer.
struct forward_refusal {
  int status = 0;
  std::string reason;
};

[[nodiscard]] std::expected<forwarded_request, forward_refusal> forward(
    const proto::http_request& request, const forwarding& forwarding);

/// The fields of an answer, for the client. With `is_upgraded`, those of a 101 answer.
[[nodiscard]] proto::http_fields answered_fields(proto::http_fields fields, bool is_upgraded);

/// Whether a field belongs to one connection or to the framing. `name` in lower case.
[[nodiscard]] bool is_of_one_connection(std::string_view name);

/// The trailer fields that are allowed as such (RFC 9110 section 6.5.1): none for framing, content
/// handling or routing, which a recipient might merge into the head.
[[nodiscard]] proto::http_fields passed_trailers(proto::http_fields fields);

/// The length of the answer's body, if its head states it.
[[nodiscard]] std::optional<std::uint64_t> length_of(const proto::http_fields& fields);

/// Whether a request may be sent twice, because that has the same effect as once (RFC 9110 section
/// 9.2.2).
[[nodiscard]] bool is_idempotent(std::string_view method);

}  // namespace strata::runtime::proxy
