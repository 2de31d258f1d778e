// HTTP/1.0 and 1.1 messages (RFC 9110, RFC 9112), sans I/O: bytes in, values out.
//
// The parsers own the bytes that they have not used yet; what they return owns its memory. One
// thread at a time. No input throws, and none makes a parser hold more than the limits allow and
// what one `feed` brought.
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
  std::size_t max_body = 16U << 20U;    ///< bytes, after chunked encoding is taken off
  /// For whoever takes bodies in pieces, and so needs no limit.
  static constexpr std::size_t unlimited = SIZE_MAX;
};

struct http_request {
  std::string method;  ///< as sent: `GET`
  std::string target;  ///< as sent: `/v1/runtimes/a%20b?tail=5`
  std::string path;    ///< decoded, without query: `/v1/runtimes/a b`
  http_fields query;   ///< decoded; empty where that cannot be done
  /// The target's query is no percent-encoded text, so that only its bytes are known.
  bool has_opaque_query = false;
  http_fields headers;  ///< names in lower case
  std::string body;
  std::string protocol;     ///< that a CONNECT of HTTP/2 asks for (RFC 8441); empty: none
  http_fields trailers;     ///< fields behind a chunked body; names in lower case
  unsigned version = 11;    ///< 10 is HTTP/1.0
  bool keep_alive = false;  ///< the client wants to send another request on this connection

  [[nodiscard]] std::optional<std::string_view> header(std::string_view name) const {
    return find_field(headers, name);
  }
  [[nodiscard]] std::optional<std::string_view> query_value(std::string_view name) const {
    return find_field(query, name);
  }
};

/// Requests whole (`feed`, `next`), or head first and the body in pieces (`take` and what follows
/// it). One of the two for one parser.
class http_request_parser {
 public:
  explicit http_request_parser(http_limits limits = {});
  ~http_request_parser();
  http_request_parser(http_request_parser&&) noexcept;
  http_request_parser& operator=(http_request_parser&&) noexcept;

  /// Takes the next bytes of the connection; returns the request that they complete, or nullopt
  /// when more are needed. A client may send its next request behind the first: after a request
  /// came, call `next()` until it gives nullopt. Errors: malformed, not_supported (a version or a
  /// coding), limit_exceeded; the parser stays failed, so answer `refusal_status()` and close.
  [[nodiscard]] result<std::optional<http_request>> feed(byte_span input);
  [[nodiscard]] result<std::optional<http_request>> next();

  /// Takes the next bytes. Errors: as of `feed`.
  [[nodiscard]] result<void> take(byte_span input);
  /// The request without its body, from when its head is complete until `restart()`; else null.
  [[nodiscard]] const http_request* head() const;
  /// The body's bytes that came since the last call.
  [[nodiscard]] std::string take_body();
  /// How long the body will be, as far as its head or its chunks' heads have said by now.
  [[nodiscard]] std::uint64_t announced_body() const;
  /// All of the present request has come.
  [[nodiscard]] bool done() const;
  /// The fields behind a chunked body; for a request that is done.
  [[nodiscard]] http_fields take_trailers();
  /// Forgets a request that is done, and reads on in what came behind it. Errors: as of `feed`.
  [[nodiscard]] result<void> restart();
  /// What came behind a request that is done: of another protocol, to which it has led.
  [[nodiscard]] std::string take_rest();

  /// True once for a request whose head has come and whose client waits for `100 Continue` before
  /// it sends the body: then send `http_continue`.
  [[nodiscard]] bool take_continue();

  /// True between requests: the peer may close now without anything being cut.
  [[nodiscard]] bool idle() const;

  /// The status that tells the client why it failed: 400, 413, 414, 431, 501 or 505; 0 when
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
  std::string reason = {};  ///< of HTTP/1.1; empty: none
};

/// RFC 9110 section 15: a status outside of these is no status.
[[nodiscard]] constexpr bool is_status(int status) { return status >= 100 && status <= 599; }

/// RFC 9110 section 15.2: other responses follow, but for 101, which ends HTTP.
[[nodiscard]] constexpr bool is_interim(int status) { return status / 100 == 1 && status != 101; }

/// The client's side. The body can be taken in pieces as it comes, so an endless one can be
/// followed. Interim responses stand aside from the final one, which is the only one with a body.
class http_response_parser {
 public:
  explicit http_response_parser(std::size_t max_header = http_limits{}.max_header);
  ~http_response_parser();
  http_response_parser(http_response_parser&&) noexcept;
  http_response_parser& operator=(http_response_parser&&) noexcept;

  /// Errors: malformed, limit_exceeded. Bytes behind the response's end are ignored.
  [[nodiscard]] result<void> feed(byte_span input);

  /// Says that the peer has closed. Errors: connection_closed when that cuts the response.
  [[nodiscard]] result<void> finish();

  /// Null until the head is complete.
  [[nodiscard]] const http_response_head* head() const;
  /// The head that is complete, once; then `head()` has no fields any more.
  [[nodiscard]] http_response_head take_head();
  /// The next interim response, in order. At most 16 wait to be taken; later ones are dropped.
  [[nodiscard]] std::optional<http_response_head> take_interim();
  /// The response is whole, with no bytes of a body left to take and no trailers.
  [[nodiscard]] bool is_empty() const;

  /// The body's bytes that came since the last call.
  [[nodiscard]] std::string take_body();
  /// The fields behind a chunked body; of a response that is done.
  [[nodiscard]] http_fields take_trailers();

  [[nodiscard]] bool done() const;

  /// The request was a HEAD: whatever the head says, no body follows. Before the first byte.
  void expect_no_body();
  /// The connection can carry another request, once this response is done.
  [[nodiscard]] bool keep_alive() const;
  /// Forgets a response that is done, for the next on the same connection.
  void restart();
  /// What came behind a response that is done: of another protocol, to which it has led.
  [[nodiscard]] std::string take_rest();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

inline constexpr std::string_view http_continue = "HTTP/1.1 100 Continue\r\n\r\n";

/// 404 is "Not Found"; a status without a name is "Unknown".
[[nodiscard]] std::string_view http_reason(int status);

/// A whole response. 204 and 304 have no body, whatever `body` is.
[[nodiscard]] std::string http_response(int status, std::string_view content_type,
                                        std::string_view body, bool keep_alive);

/// A response's start. `fields` go into it as they are.
[[nodiscard]] std::string http_response_head_text(int status, const http_fields& fields);

/// One chunk. Empty for no bytes, since an empty chunk would end the body.
[[nodiscard]] std::string http_chunk(std::string_view bytes);
/// What ends a chunked body, with fields behind it.
[[nodiscard]] std::string http_last_chunk(const http_fields& trailers = {});

/// A request of the client's side. `fields` go into the head as they are.
[[nodiscard]] std::string http_request_text(std::string_view method, std::string_view target,
                                            const http_fields& fields, std::string_view body);

}  // namespace strata::proto
