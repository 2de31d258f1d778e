// HTTP/2 (RFC 9113), sans I/O, by libnghttp2: bytes in, requests out, answers in, bytes out; or, as
// a client, the other way round.
//
// A session belongs to one connection and one thread. No input throws, and none makes it hold more
// than the limits allow: a body's bytes are credited to the peer when whoever reads them says so
// (`consume`), and a peer that floods is ended. Bodies that go out stay with whoever made them
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

/// What a client begins with (section 3.4).
inline constexpr std::string_view http2_preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

struct http2_limits {
  /// Bytes of a request's fields, each with 32 more, as the client counts them. A request over it
  /// is answered 431; one several times over it is a flood.
  std::size_t max_header = 16U << 10U;
  std::uint32_t max_streams = 100;
  /// Bytes of bodies that a client may send before somebody has read some.
  std::uint32_t stream_window = 64U << 10U;
  std::uint32_t connection_window = 1U << 20U;
  /// What a client may do at once, and each second: take streams back, or have them refused...
  std::uint32_t max_resets = 500;
  std::uint32_t resets_a_second = 50;
  /// ...and send frames that want an answer, or say nothing.
  std::uint32_t max_controls = 1000;
  std::uint32_t controls_a_second = 100;
};

/// Why a stream or a connection ends (section 7).
enum class http2_code : std::uint32_t {
  no_error = 0,
  protocol_error = 1,
  internal_error = 2,
  stream_closed = 5,
  cancel = 8,
  enhance_your_calm = 11,
};

/// Whoever answers one request, or asks it: called while the session is fed or gives output. It
/// lives until `on_close`, or longer than the session.
class http2_stream {
 public:
  /// A part of the body that goes out, and whether that is its end.
  struct supply {
    std::size_t bytes = 0;
    bool is_last = false;
    const http_fields* trailers = nullptr;  ///< behind the end; null: none
  };

  http2_stream() = default;
  http2_stream(const http2_stream&) = delete;
  http2_stream& operator=(const http2_stream&) = delete;
  virtual ~http2_stream() = default;

  /// A head of the answer, of a client's stream: interim ones (1xx), then the final one.
  virtual void on_head(http_response_head&& /*head*/) {}
  /// Bytes of the body that comes: `consume` them when they are read.
  virtual void on_body(byte_span bytes) = 0;
  /// Fields behind it, once all of them are there.
  virtual void on_trailers(http_fields&& /*fields*/) {}
  /// What comes is whole.
  virtual void on_end() = 0;
  /// The server has not processed the request (section 8.7): it may be sent again. Then it closes.
  virtual void on_refusal() {}
  /// The stream is gone: both sides have said all, or one has reset it.
  virtual void on_close() = 0;

  /// What of the body could be sent now.
  [[nodiscard]] virtual supply supplied() const = 0;
  /// Writes the next `count` bytes of it behind what the listener was last told to write.
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
    bool is_whole = false;                        ///< it has no body
    std::optional<std::uint64_t> announced_body;  ///< how long its body will be, if that is said
    /// The status that it must be answered, and why; 0: none.
    int refusal_status = 0;
    std::optional<error> refusal;
  };
  /// A request's head is whole. Gives whoever will answer it; never null. Of a server's session.
  virtual http2_stream* on_request(arrival&& come) = 0;
  /// Output: bytes for the connection, in order.
  virtual void write(byte_span bytes) = 0;
};

/// How an answer begins. Names of fields may be in any case; those that are of HTTP/1.1's
/// connections are left out.
struct http2_answer {
  int status = 200;
  const http_fields& fields;
  std::string_view date;  ///< empty: none
  std::optional<std::uint64_t> length;
  bool has_body = false;  ///< the stream supplies one
};

/// A request of a client's session. Of `fields` too, what is of HTTP/1.1's connections is left out.
struct http2_question {
  std::string_view method;
  std::string_view protocol = {};  ///< of a CONNECT that asks for one (RFC 8441); empty: none
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
  /// output is left, which tells the client why, and nothing more may be fed.
  [[nodiscard]] result<void> feed(byte_span input, time_point now);
  /// Writes what is to be sent, until that are `most` bytes or a frame more. Says how many.
  std::size_t give_output(std::size_t most);
  /// There is something to be sent, if the client's windows allow it.
  [[nodiscard]] bool wants_output() const;
  /// Nothing will be read or sent any more.
  [[nodiscard]] bool is_over() const;
  /// Something has begun that only the client can end: its preface, or a head.
  [[nodiscard]] bool awaits_head() const;
  /// It was ended because the client flooded it.
  [[nodiscard]] bool was_flooded() const;

  /// A client's session takes another request: the server wants more streams, and has not said that
  /// it goes away.
  [[nodiscard]] bool may_ask() const;
  /// The peer's first settings have come.
  [[nodiscard]] bool has_settings() const;
  /// The server takes a CONNECT that asks for a protocol, as far as is known.
  [[nodiscard]] bool takes_connect_protocol() const;
  /// Asks. Gives the stream's number; 0: the session takes no more, and `stream` hears nothing.
  [[nodiscard]] std::uint32_t ask(const http2_question& question, http2_stream& stream);
  /// Answers a stream. One that is gone takes no notice of this, nor of what follows.
  void answer(std::uint32_t stream, const http2_answer& head);
  /// An interim answer (1xx): with 100 the client may send its body.
  void inform(std::uint32_t stream, int status, const http_fields& fields);
  /// The stream can supply more than before, or its end.
  void resume(std::uint32_t stream);
  /// So many bytes of its body are read: the client may send as many more.
  void consume(std::uint32_t stream, std::size_t bytes);
  void reset(std::uint32_t stream, http2_code why);
  /// Tells the client that no new streams are taken. Those that run go on; the session is over with
  /// the last of them.
  void retire();
  /// Ends the connection: tells the client, and takes no new streams.
  void end(http2_code why);

 private:
  void end_flood();
  void add_fields(const http_fields& fields);

  struct state;  // http2_state.hpp
  friend struct http2_calls;
  std::unique_ptr<state> state_;
};

}  // namespace strata::proto
