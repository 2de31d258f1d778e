// One HTTP request and its answer, for handlers, which do not see whether it uses HTTP/1.1 or
// HTTP/2.
//
// The body is received in pieces on demand, and an answer is sent as fast as the client reads it:
// neither takes more memory than one piece and the unsent data that `write` allows.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "loop/task.hpp"
#include "net/stream.hpp"
#include "proto/http/http1.hpp"

namespace strata::http {

/// The head of an answer. The framing fields and the date are added to it.
struct answer_head {
  int status = 200;
  proto::http_fields fields;
  /// Length of the body in bytes, if it is known yet.
  std::optional<std::uint64_t> length;
  /// More fields. They are not copied: the caller keeps them until `begin` or `respond` returns.
  const proto::http_fields* standing = nullptr;
  std::string reason = {};  ///< HTTP/1.1's reason phrase; empty: the registered one
  bool has_date = false;    ///< the fields have a date, and none is added
};

class served_connection;

/// Receives the head of an answer as it is sent.
class answer_watcher {
 public:
  /// `head` is in the format of HTTP/1.1, with the empty line at its end.
  virtual void on_answer(std::string_view head) = 0;

 protected:
  ~answer_watcher() = default;
};

class exchange {
 public:
  explicit exchange(const proto::http_request& request) : request_(request) {}
  exchange(const exchange&) = delete;
  exchange& operator=(const exchange&) = delete;
  virtual ~exchange() = default;

  /// The request without its body.
  [[nodiscard]] const proto::http_request& request() const { return request_; }
  /// The method, with "GET" for HEAD, whose answer differs only in having no body.
  [[nodiscard]] std::string_view method() const {
    return is_head() ? "GET" : std::string_view(request_.method);
  }
  [[nodiscard]] bool is_head() const { return request_.method == "HEAD"; }
  [[nodiscard]] virtual const net::peer_info& peer() const = 0;
  /// The connection that carries it.
  [[nodiscard]] virtual served_connection& connection() = 0;
  /// Whether the request uses TLS.
  [[nodiscard]] virtual bool is_secure() const = 0;

  /// Whether the request has a body.
  [[nodiscard]] virtual bool has_body() const = 0;
  /// Waits for more of the body: some bytes, or none at its end. Errors: those of the connection,
  /// or of the body's format; limit_exceeded once it is known that the body is longer than `most`
  /// in all.
  virtual loop::task<result<std::string>> read(std::uint64_t most = UINT64_MAX) = 0;
  /// From now on `read` does not send 100 to a client that waits for it (Expect): the handler does,
  /// by calling `inform` with 100.
  virtual void leave_continue() = 0;
  /// The trailer fields of a body that has been read to its end.
  [[nodiscard]] virtual proto::http_fields take_trailers() = 0;
  /// Waits for the whole body. Errors: as of `read`.
  loop::task<result<std::string>> read_all(std::uint64_t most);

  /// Sends an answer in one piece. The head's `length` need not be set.
  virtual void respond(answer_head head, std::string_view body);
  void respond(int status, std::string_view type, std::string_view body);
  /// Sends an interim answer (1xx) before the answer. It is dropped for HTTP/1.0, which has none.
  virtual void inform(int status, const proto::http_fields& fields) = 0;
  /// Begins an answer; pieces of its body and `finish` follow.
  virtual void begin(answer_head head) = 0;
  /// Sends a piece of the answer at once. Check `unsent()`, or wait for `room`.
  virtual void push(const loop::slice& piece) = 0;
  void push(std::string_view piece);
  /// Sends part of a file as the next piece of the answer, then waits until little enough of it is
  /// unsent. Returns false if the client has gone or does not read, or the file has become shorter:
  /// then abort. The bytes are not copied if the connection carries them unchanged.
  virtual loop::task<bool> write_file(loop::file_part part);
  void finish() { finish({}); }
  /// Ends the answer, with trailer fields if the client can receive any.
  virtual void finish(proto::http_fields trailers) = 0;
  /// Unsent bytes of answers on this connection.
  [[nodiscard]] virtual std::size_t unsent() const = 0;
  /// Waits until little enough of them is unsent. Returns false if the client has gone or does not
  /// read.
  virtual loop::task<bool> room() = 0;
  /// Sends a piece of the answer, then waits for room for the next.
  loop::task<bool> write(const loop::slice& piece);
  loop::task<bool> write(std::string_view piece);
  /// Waits until the client's side has received all that was pushed, until `limit` at most.
  virtual loop::task<> delivered(loop::time_point limit) = 0;
  /// Waits until the client ends the connection; data that it sends meanwhile is lost.
  virtual loop::task<> client_end() = 0;
  /// Waits until the client leaves, as far as that can be detected; data that it sends meanwhile is
  /// kept. Destroy this task before going on with the exchange.
  virtual loop::task<> client_left() = 0;
  /// Ends the exchange at once, even if part of the answer is missing.
  virtual void abort() = 0;

  /// Whether the connection serves this exchange alone, not several at a time.
  [[nodiscard]] virtual bool owns_connection() const = 0;
  /// Accepts an upgrade to another protocol, with these fields, once a request that asks for one
  /// has been read completely. Returns the protocol's channel, which still holds what the client
  /// sent behind the request. If the exchange owns the connection, the channel is the connection,
  /// and outlives the exchange; otherwise the channel is destroyed before the handler ends.
  [[nodiscard]] virtual std::unique_ptr<net::byte_channel> upgrade(
      const proto::http_fields& fields) = 0;

  /// Sets the watcher of the answer's head, which outlives the exchange; null removes it.
  void watch(answer_watcher* watcher) { watcher_ = watcher; }

  [[nodiscard]] bool has_begun() const { return at_ != stage::open; }
  [[nodiscard]] bool is_answered() const { return at_ == stage::answered; }
  /// The status of the answer; 0 before there is one.
  [[nodiscard]] int status() const { return status_; }
  /// Bytes of the answer's body so far.
  [[nodiscard]] std::uint64_t body_bytes() const { return body_bytes_; }

 protected:
  enum class stage : std::uint8_t { open, begun, answered };

  void note_head(int status) {
    status_ = status;
    at_ = stage::begun;
  }
  [[nodiscard]] bool is_watched() const { return watcher_ != nullptr; }
  void show_head(std::string_view text) {
    if (watcher_ != nullptr) watcher_->on_answer(text);
  }
  void note_body(std::size_t bytes) { body_bytes_ += bytes; }
  void note_end() { at_ = stage::answered; }

 private:
  const proto::http_request& request_;
  stage at_ = stage::open;
  int status_ = 0;
  std::uint64_t body_bytes_ = 0;
  answer_watcher* watcher_ = nullptr;
};

/// The status for a request whose body could not be read: 400, 408 or 413.
[[nodiscard]] int status_of(const error& of_read);

/// Whether an answer of that status has a body at all (RFC 9110 section 6.4.1).
[[nodiscard]] constexpr bool may_have_body(int status) {
  return status >= 200 && status != 204 && status != 304;
}

}  // namespace strata::http
