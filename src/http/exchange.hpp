// One HTTP request, and the answer that it gets. For handlers, which do not know whether it came by
// HTTP/1.1 or by HTTP/2.
//
// The body comes in pieces as it is asked for, and an answer goes out as fast as the client reads
// it: neither takes more memory than one piece and what `write` lets wait.
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

/// How an answer begins. What says where it ends, and the date, are put to it.
struct answer_head {
  int status = 200;
  proto::http_fields fields;
  /// Bytes of its body, if that is known yet.
  std::optional<std::uint64_t> length;
  /// More fields, which somebody keeps until `begin` or `respond` returns. They are not copied.
  const proto::http_fields* standing = nullptr;
  std::string reason = {};  ///< HTTP/1.1's phrase behind the status; empty: the registered one
  bool has_date = false;    ///< among the fields: no other is put to them
};

class served_connection;

/// Sees the heads of answers as they are sent.
class answer_watcher {
 public:
  /// `head`: in HTTP/1.1's form, with the empty line at its end.
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

  /// Without its body.
  [[nodiscard]] const proto::http_request& request() const { return request_; }
  /// "GET" for HEAD, which is answered alike but for the body.
  [[nodiscard]] std::string_view method() const {
    return is_head() ? "GET" : std::string_view(request_.method);
  }
  [[nodiscard]] bool is_head() const { return request_.method == "HEAD"; }
  [[nodiscard]] virtual const net::peer_info& peer() const = 0;
  /// The connection that carries it.
  [[nodiscard]] virtual served_connection& connection() = 0;
  /// It came by TLS.
  [[nodiscard]] virtual bool is_secure() const = 0;

  /// Whether the request has a body at all.
  [[nodiscard]] virtual bool has_body() const = 0;
  /// Awaits more of the body: some bytes, or none at its end. Errors: of the connection, or the
  /// body's form; limit_exceeded as soon as it is known to be longer than `most` in all.
  virtual loop::task<result<std::string>> read(std::uint64_t most = UINT64_MAX) = 0;
  /// From now on `read` does not tell a client to go on that waits for it (Expect): whoever
  /// answers does, by `inform` with 100.
  virtual void leave_continue() = 0;
  /// The fields behind a body that has been read to its end.
  [[nodiscard]] virtual proto::http_fields take_trailers() = 0;
  /// Awaits all of the body. Errors: as of `read`.
  loop::task<result<std::string>> read_all(std::uint64_t most);

  /// Answers in one piece. The head's `length` need not be set.
  virtual void respond(answer_head head, std::string_view body);
  void respond(int status, std::string_view type, std::string_view body);
  /// Sends an interim answer (1xx) ahead of the answer. HTTP/1.0 has none: there it is dropped.
  virtual void inform(int status, const proto::http_fields& fields) = 0;
  /// Begins an answer; pieces of its body and `finish` follow.
  virtual void begin(answer_head head) = 0;
  /// A piece of the answer, at once. Look at `unsent()`, or await `room`.
  virtual void push(const loop::slice& piece) = 0;
  void push(std::string_view piece);
  /// Part of a file as the next piece of the answer: awaits that little enough of it waits. False
  /// when the client has gone or does not read, or the file has become shorter: then abort. Where
  /// the connection carries the file's bytes as they are, they are not copied.
  virtual loop::task<bool> write_file(loop::file_part part);
  void finish() { finish({}); }
  /// With fields behind the body, where the client can be sent some.
  virtual void finish(proto::http_fields trailers) = 0;
  /// Bytes of answers on this connection that wait to be sent.
  [[nodiscard]] virtual std::size_t unsent() const = 0;
  /// Awaits that little enough of them wait. False when the client has gone or does not read.
  virtual loop::task<bool> room() = 0;
  /// A piece of the answer, and then room for the next.
  loop::task<bool> write(std::string_view piece);
  /// Awaits, until `limit` at the longest, that the client's side has all that was pushed.
  virtual loop::task<> delivered(loop::time_point limit) = 0;
  /// Awaits that the client goes; what it says meanwhile is lost.
  virtual loop::task<> client_end() = 0;
  /// Awaits that the client leaves, as far as that shows; what it says meanwhile is kept. Whoever
  /// goes on with the exchange destroys this first.
  virtual loop::task<> client_left() = 0;
  /// Ends the exchange at once, however much of the answer is missing.
  virtual void abort() = 0;

  /// Whether the connection serves this exchange alone. Else it carries others beside it.
  [[nodiscard]] virtual bool owns_connection() const = 0;
  /// Answers that what follows is another protocol, with these fields, once a request that asks for
  /// one is read whole; and gives the channel for it, on which what the client has sent behind the
  /// request is unread. Where the exchange owns the connection, that is the channel, and outlives
  /// it; else the channel goes before the handler ends.
  [[nodiscard]] virtual std::unique_ptr<net::byte_channel> upgrade(
      const proto::http_fields& fields) = 0;

  /// Null: nobody watches any more.
  void watch(answer_watcher* watcher) { watcher_ = watcher; }

  [[nodiscard]] bool has_begun() const { return at_ != stage::open; }
  [[nodiscard]] bool is_answered() const { return at_ == stage::answered; }
  /// What was answered; 0 before that.
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
