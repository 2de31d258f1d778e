// HTTP/1.0 and 1.1 messages (RFC 9110, RFC 9112), sans I/O: bytes in, values out.
//
// The parsers own the bytes that they have not used yet; the values that they return own their
// memory. One thread at a time. No input throws or makes a parser hold more than the limits allow
// plus the bytes of one `feed`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proto/http/http_fields.hpp"
#include "strata/base/bytes.hpp"
#include "strata/base/result.hpp"

namespace strata::proto {

struct http_limits {
  std::size_t max_header = 16U << 10U;  ///< bytes of start line and header fields together
  std::size_t max_body = 16U << 20U;    ///< bytes, after chunked decoding
  /// For callers that take bodies in pieces, and so need no limit.
  static constexpr std::size_t unlimited = SIZE_MAX;
};

struct http_request {
  std::string method;  ///< as sent: `GET`
  std::string target;  ///< as sent: `/v1/runtimes/a%20b?tail=5`
  std::string path;    ///< decoded, without query: `/v1/runtimes/a b`
  http_fields query;   ///< decoded; empty if it cannot be decoded
  /// The target's query is not percent-encoded text, so only its bytes are known.
  bool has_opaque_query = false;
  http_fields headers;  ///< names in lower case
  std::string body;
  std::string protocol;     ///< of a CONNECT in HTTP/2 (RFC 8441); empty if none
  http_fields trailers;     ///< fields behind a chunked body; names in lower case
  unsigned version = 11;    ///< 10 is HTTP/1.0
  bool keep_alive = false;  ///< the client may send another request on this connection

  [[nodiscard]] std::optional<std::string_view> header(std::string_view name) const {
    return find_field(headers, name);
  }
  [[nodiscard]] std::optional<std::string_view> query_value(std::string_view name) const {
    return find_field(query, name);
  }
};

/// Parses requests either whole (`feed`, `next`), or head first and the body in pieces (`take` and
/// the functions after it). Use one of the two per parser.
class http_request_parser {
 public:
  explicit http_request_parser(http_limits limits = {});
  ~http_request_parser();
  http_request_parser(http_request_parser&&) noexcept;
  http_request_parser& operator=(http_request_parser&&) noexcept;

  /// Takes the next bytes of the connection; returns the request that they complete, or nullopt if
  /// more are needed. A client may pipeline requests: after a request, call `next()` until it
  /// returns nullopt. Errors: malformed, not_supported (a version or a coding), limit_exceeded; the
  /// parser stays failed, so answer `refusal_status()` and close.
  [[nodiscard]] result<std::optional<http_request>> feed(byte_span input);
  [[nodiscard]] result<std::optional<http_request>> next();

  /// Takes the next bytes. Errors: as of `feed`.
  [[nodiscard]] result<void> take(byte_span input);
  /// The request without its body, from the completion of its head until `restart()`; otherwise
  /// null.
  [[nodiscard]] const http_request* head() const;
  /// Returns the bytes of the body that arrived since the last call.
  [[nodiscard]] std::string take_body();
  /// The length of the body, as far as its head or the heads of its chunks have announced it so
  /// far.
  [[nodiscard]] std::uint64_t announced_body() const;
  /// Reports whether the current request is complete.
  [[nodiscard]] bool done() const;
  /// Returns the fields after a chunked body, once the request is done.
  [[nodiscard]] http_fields take_trailers();
  /// Discards a request that is done, and parses the bytes behind it. Errors: as of `feed`.
  [[nodiscard]] result<void> restart();
  /// Returns the bytes behind a request that is done: those of another protocol, after an upgrade.
  [[nodiscard]] std::string take_rest();

  /// Returns true once for a request whose head has arrived and whose client waits for `100
  /// Continue` before it sends the body: then send `http_continue`.
  [[nodiscard]] bool take_continue();

  /// True between requests: the peer may close now without truncating anything.
  [[nodiscard]] bool idle() const;

  /// The status that reports the failure to the client: 400, 413, 414, 431, 501 or 505; 0 if
  /// nothing has failed.
  [[nodiscard]] int refusal_status() const;

 private:
  struct state;
  [[nodiscard]] result<void> complete_head();
  std::unique_ptr<state> state_;
};

struct http_response_head {
  int status = 0;
  http_fields headers;      ///< names in lower case
  std::string reason = {};  ///< of HTTP/1.1; empty if none
};

/// RFC 9110 section 15: reports whether `status` is in the valid range.
[[nodiscard]] constexpr bool is_status(int status) { return status >= 100 && status <= 599; }

/// RFC 9110 section 15.2: interim responses are followed by others; 101 is not one, since it ends
/// HTTP.
[[nodiscard]] constexpr bool is_interim(int status) { return status / 100 == 1 && status != 101; }

/// The client's side. The body can be taken in pieces as it arrives, so that an endless one can be
/// followed. Interim responses are kept apart from the final one, which alone has a body.
class http_response_parser {
 public:
  explicit http_response_parser(std::size_t max_header = http_limits{}.max_header);
  ~http_response_parser();
  http_response_parser(http_response_parser&&) noexcept;
  http_response_parser& operator=(http_response_parser&&) noexcept;

  /// Takes the next bytes. Errors: malformed, limit_exceeded. Bytes behind the response's end are
  /// ignored.
  [[nodiscard]] result<void> feed(byte_span input);

  /// Handles the peer's close. Errors: connection_closed if the close truncates the response.
  [[nodiscard]] result<void> finish();

  /// Null until the head is complete.
  [[nodiscard]] const http_response_head* head() const;
  /// Returns the complete head, once; `head()` then has no fields any more.
  [[nodiscard]] http_response_head take_head();
  /// Returns the next interim response, in order. At most 16 are kept; later ones are dropped.
  [[nodiscard]] std::optional<http_response_head> take_interim();
  /// Reports whether the response is complete, with no bytes of a body left to take and no
  /// trailers.
  [[nodiscard]] bool is_empty() const;

  /// Returns the bytes of the body that arrived since the last call.
  [[nodiscard]] std::string take_body();
  /// Returns the fields after a chunked body, once the response is done.
  [[nodiscard]] http_fields take_trailers();

  [[nodiscard]] bool done() const;

  /// For the response to a HEAD: no body follows, whatever the head announces. Called before the
  /// first byte.
  void expect_no_body();
  /// Reports whether the connection can carry another request once this response is done.
  [[nodiscard]] bool keep_alive() const;
  /// Discards a response that is done, for the next one on the same connection.
  void restart();
  /// Returns the bytes behind a response that is done: those of another protocol, after an upgrade.
  [[nodiscard]] std::string take_rest();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

inline constexpr std::string_view http_continue = "HTTP/1.1 100 Continue\r\n\r\n";

/// 404 is "Not Found"; a status without a name is "Unknown".
[[nodiscard]] std::string_view http_reason(int status);

/// Returns a whole response. 204 and 304 have no body, whatever `body` is.
[[nodiscard]] std::string http_response(int status, std::string_view content_type,
                                        std::string_view body, bool keep_alive);

/// Returns a response's head. `fields` are written as they are.
[[nodiscard]] std::string http_response_head_text(int status, const http_fields& fields);

/// Returns the end of a chunked body, with trailing fields.
[[nodiscard]] std::string http_last_chunk(const http_fields& trailers = {});

/// Returns a client's request. `fields` are written to the head as they are.
[[nodiscard]] std::string http_request_text(std::string_view method, std::string_view target,
                                            const http_fields& fields, std::string_view body);

}  // namespace strata::proto
