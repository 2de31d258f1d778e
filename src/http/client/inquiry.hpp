// One outgoing HTTP request and its answer, for callers that need not know whether it uses HTTP/1.1
// or HTTP/2.
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

/// The request without its body. Nothing of it is kept.
struct question {
  std::string_view method;
  std::string_view target;
  const proto::http_fields& fields;  ///< with a Host, and without framing fields
  bool has_body = false;
  std::optional<std::uint64_t> length = {};  ///< length of the body, if known
};

class inquiry {
 public:
  inquiry() = default;
  inquiry(const inquiry&) = delete;
  inquiry& operator=(const inquiry&) = delete;
  virtual ~inquiry() = default;

  /// Begins a request. The previous answer must have been read to its end. Pieces of the body, and
  /// `finish`, follow; the answer may arrive before those.
  virtual void begin(const question& question) = 0;
  virtual void push(const loop::slice& piece) = 0;
  void push(std::string_view piece) {
    if (!piece.empty()) push(loop::slice::copy_of(as_bytes(piece)));
  }
  void finish() { finish({}); }
  /// Ends the body, with trailer fields if its framing has room for some.
  virtual void finish(proto::http_fields trailers) = 0;
  /// Waits until no more than `low` bytes of it are unsent. Returns false if the connection broke.
  virtual loop::task<bool> room(std::size_t low) = 0;
  /// Waits for the next head of the answer: an interim one, or the final one behind them. Errors:
  /// those of the connection, malformed, limit_exceeded; timed_out at `limit`.
  virtual loop::task<result<proto::http_response_head>> head(loop::time_point limit) = 0;
  /// Waits for the final head and skips interim ones. Errors: as of `head`.
  loop::task<result<proto::http_response_head>> final_head(loop::time_point limit);
  /// Waits for more of the answer's body: some bytes, or none at its end. Errors: as of `head`.
  virtual loop::task<result<std::string>> read(loop::time_point limit) = 0;
  /// The trailer fields of a body that has been read to its end.
  [[nodiscard]] virtual proto::http_fields take_trailers() = 0;

  /// Whether the answer has been read to its end, and another request may begin.
  [[nodiscard]] virtual bool is_free() const = 0;
  /// Whether anything of the present answer has arrived.
  [[nodiscard]] virtual bool has_received() const = 0;
  /// Whether the answer is complete with its head: neither a body nor trailers follow.
  [[nodiscard]] virtual bool is_empty() const = 0;
  /// Whether the server can report that it has not processed a request (HTTP/2's REFUSED_STREAM and
  /// GOAWAY)...
  [[nodiscard]] virtual bool can_be_refused() const = 0;
  /// ...and has reported that for this request: it may be sent again on another connection.
  [[nodiscard]] virtual bool is_refused() const = 0;
  /// For a free inquiry: waits until its connection ends, or the server sends unrequested data.
  /// Then it is of no more use.
  virtual loop::task<> ended(loop::time_point limit) = 0;
  /// Aborts the request; a pending wait for its answer fails.
  virtual void abort() = 0;
  /// Waits, until `limit` at most, and reports whether the server may be asked to switch to that
  /// protocol, by the fields Connection and Upgrade.
  [[nodiscard]] virtual loop::task<bool> may_switch_to(std::string_view protocol,
                                                       loop::time_point limit) = 0;
  /// After a 101 answer: the channel of the negotiated protocol. Destroy it before this object.
  [[nodiscard]] virtual std::unique_ptr<net::byte_channel> upgrade() = 0;
};

}  // namespace strata::http
