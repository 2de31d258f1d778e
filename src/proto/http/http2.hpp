// HTTP/2 (RFC 9113), sans I/O, by libnghttp2: bytes in, requests out, answers in, bytes out; for a
// client the other way round.
//
// A session belongs to one connection and one thread. No input throws or makes it hold more than
// the limits allow: a body's bytes are credited to the peer when their reader reports them as read
// (`consume`), and a session whose peer floods is ended. Outgoing bodies stay with their owner
// until they can be sent.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "proto/http/http1.hpp"
#include "strata/base/bytes.hpp"
#include "strata/base/result.hpp"

namespace strata::proto {

/// The first bytes that a client sends (section 3.4).
inline constexpr std::string_view http2_preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

struct http2_limits {
  /// The size of a request's fields in bytes, plus 32 for each, as the client counts them. A
  /// request over it is answered 431; a request several times over it is a flood.
  std::size_t max_header = 16U << 10U;
  std::uint32_t max_streams = 100;
  /// Bytes of bodies that a client may send before any are read.
  std::uint32_t stream_window = 64U << 10U;
  std::uint32_t connection_window = 1U << 20U;
  /// How many streams a client may cancel, or have rejected, at once and per second...
  std::uint32_t max_resets = 500;
  std::uint32_t resets_a_second = 50;
  /// ...and how many frames it may send that require an answer or have no content.
  std::uint32_t max_controls = 1000;
  std::uint32_t controls_a_second = 100;
};

/// The reason why a stream or a connection ends (section 7).
enum class http2_code : std::uint32_t {
  no_error = 0,
  protocol_error = 1,
  internal_error = 2,
  stream_closed = 5,
  cancel = 8,
  enhance_your_calm = 11,
};

/// The object that answers one request, or makes it: called while the session is fed or writes
/// output. It must live until `on_close`, or longer than the session.
class http2_stream {
 public:
  /// An available part of the outgoing body, and whether it is the last.
  struct supply {
    std::size_t bytes = 0;
    bool is_last = false;
    const http_fields* trailers = nullptr;  ///< after the end; null if none
  };

  http2_stream() = default;
  http2_stream(const http2_stream&) = delete;
  http2_stream& operator=(const http2_stream&) = delete;
  virtual ~http2_stream() = default;

  /// Called on a client's stream for each head of the answer: interim ones (1xx), then the final
  /// one.
  virtual void on_head(http_response_head&& /*head*/) {}
  /// Called with bytes of the incoming body: `consume` them when they are read.
  virtual void on_body(byte_span bytes) = 0;
  /// Called with the fields after the body, once they are complete.
  virtual void on_trailers(http_fields&& /*fields*/) {}
  /// Called when the incoming message is complete.
  virtual void on_end() = 0;
  /// Called when the server has not processed the request (section 8.7), so that it may be sent
  /// again. `on_close` follows.
  virtual void on_refusal() {}
  /// Called when the stream is closed: both sides have ended it, or one has reset it.
  virtual void on_close() = 0;

  /// Returns the part of the body that could be sent now.
  [[nodiscard]] virtual supply supplied() const = 0;
  /// Writes the next `count` bytes of the body to the listener's output, after the last bytes
  /// written.
  virtual void move_body(std::size_t count) = 0;
};

class http2_listener {
 public:
  http2_listener() = default;
  http2_listener(const http2_listener&) = delete;
  http2_listener& operator=(const http2_listener&) = delete;
  virtual ~http2_listener() = default;

  struct arrival {
    std::uint32_t stream = 0;
    http_request request;
    bool is_whole = false;                        ///< has no body
    std::optional<std::uint64_t> announced_body;  ///< the announced length of its body, if any
    /// The status with which the request must be rejected, and the reason; 0 if none.
    int refusal_status = 0;
    std::optional<error> refusal;
  };
  /// Called on a server's session when a request's head is complete. Returns the stream that will
  /// answer it; never null.
  virtual http2_stream* on_request(arrival&& come) = 0;
  /// Called with output: bytes for the connection, in order.
  virtual void write(byte_span bytes) = 0;
};

/// The head of an answer. Names of fields may be in any case; HTTP/1.1's connection fields are left
/// out.
struct http2_answer {
  int status = 200;
  const http_fields& fields;
  std::string_view date;  ///< empty if none
  std::optional<std::uint64_t> length;
  bool has_body = false;  ///< the stream supplies one
};

/// A request of a client's session. HTTP/1.1's connection fields are left out of `fields` too.
struct http2_question {
  std::string_view method;
  std::string_view protocol = {};  ///< of a CONNECT with a protocol (RFC 8441); empty if none
  std::string_view scheme;
  std::string_view authority;
  std::string_view target;
  const http_fields& fields;
  std::optional<std::uint64_t> length = {};
  bool has_body = false;  ///< the stream supplies one
};

enum class http2_role : std::uint8_t { server, client };

class http2_session {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  explicit http2_session(http2_listener& listener, http2_limits limits = {},
                         http2_role role = http2_role::server);
  ~http2_session();
  http2_session(const http2_session&) = delete;
  http2_session& operator=(const http2_session&) = delete;

  /// Takes the next bytes of the connection. Errors: malformed, limit_exceeded (a flood); then only
  /// the output remains, which reports the reason to the client, and nothing more may be fed.
  [[nodiscard]] result<void> feed(byte_span input, time_point now);
  /// Writes pending output, until at least `most` bytes are written or nothing is pending. Exceeds
  /// `most` by at most one frame. Returns the number of bytes.
  std::size_t give_output(std::size_t most);
  /// Reports whether there is output to send, if the client's windows allow it.
  [[nodiscard]] bool wants_output() const;
  /// Reports whether nothing will be read or sent any more.
  [[nodiscard]] bool is_over() const;
  /// Reports whether something has begun that only the client can complete: its preface, or a head.
  [[nodiscard]] bool awaits_head() const;
  /// Reports whether the session was ended because the client flooded it.
  [[nodiscard]] bool was_flooded() const;

  /// Reports whether a client's session accepts another request: the server allows more streams and
  /// has not sent a GOAWAY.
  [[nodiscard]] bool may_ask() const;
  /// Reports whether the peer's first settings have arrived.
  [[nodiscard]] bool has_settings() const;
  /// Reports whether the server accepts a CONNECT with a protocol, as far as is known.
  [[nodiscard]] bool takes_connect_protocol() const;
  /// Sends a request. Returns the stream's number, or 0 if the session accepts no more requests;
  /// `stream` is then not called.
  [[nodiscard]] std::uint32_t ask(const http2_question& question, http2_stream& stream);
  /// Answers a stream. On a closed stream, this and the following functions have no effect.
  void answer(std::uint32_t stream, const http2_answer& head);
  /// Sends an interim answer (1xx): after 100 the client may send its body.
  void inform(std::uint32_t stream, int status, const http_fields& fields);
  /// Resumes a stream that can supply more than before, or its end.
  void resume(std::uint32_t stream);
  /// Reports `bytes` bytes of the stream's body as read: the client may send as many more.
  void consume(std::uint32_t stream, std::size_t bytes);
  void reset(std::uint32_t stream, http2_code why);
  /// Notifies the client that no new streams are accepted. Running streams continue; the session is
  /// over with the last of them.
  void retire();
  /// Ends the connection: notifies the client, and accepts no new streams.
  void end(http2_code why);

 private:
  void end_flood();
  void add_fields(const http_fields& fields);

  struct state;  // http2_state.hpp
  friend struct http2_calls;
  std::unique_ptr<state> state_;
};

}  // namespace strata::proto
