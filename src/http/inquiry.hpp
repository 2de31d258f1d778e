// One HTTP request that goes out, and the answer that comes. For those that ask, which need not
// know whether it goes by HTTP/1.1 or by HTTP/2.
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

/// What is asked, but for the body. Nothing of it is kept.
struct question {
  std::string_view method;
  std::string_view target;
  const proto::http_fields& fields;  ///< with a Host, and without what says where the body ends
  bool has_body = false;
  std::optional<std::uint64_t> length = {};  ///< of the body, if that is known
};

class inquiry {
 public:
  inquiry() = default;
  inquiry(const inquiry&) = delete;
  inquiry& operator=(const inquiry&) = delete;
  virtual ~inquiry() = default;

  /// Begins a request. The answer before must have been read to its end. Pieces of the body, and
  /// `finish`, follow; the answer may come before those.
  virtual void begin(const question& question) = 0;
  virtual void push(std::string_view piece) = 0;
  void finish() { finish({}); }
  /// With fields behind the body, where that has room for some.
  virtual void finish(proto::http_fields trailers) = 0;
  /// Awaits that no more than `low` bytes of it wait. False when the connection broke.
  virtual loop::task<bool> room(std::size_t low) = 0;
  /// Awaits the next head of the answer: an interim one, or the final one behind them. Errors: of
  /// the connection, malformed, limit_exceeded; timed_out at `limit`.
  virtual loop::task<result<proto::http_response_head>> head(loop::time_point limit) = 0;
  /// Awaits the final head and passes over interim ones. Errors: as of `head`.
  loop::task<result<proto::http_response_head>> final_head(loop::time_point limit);
  /// Awaits more of the answer's body: some bytes, or none at its end. Errors: as of `head`.
  virtual loop::task<result<std::string>> read(loop::time_point limit) = 0;
  /// The fields behind a body that has been read to its end.
  [[nodiscard]] virtual proto::http_fields take_trailers() = 0;

  /// The answer has been read to its end, and another request may begin.
  [[nodiscard]] virtual bool is_free() const = 0;
  /// Something of the present answer has come.
  [[nodiscard]] virtual bool has_heard() const = 0;
  /// The answer is whole with its head: neither a body nor trailers follow.
  [[nodiscard]] virtual bool is_empty() const = 0;
  /// The server can say that it has not processed a request (HTTP/2's REFUSED_STREAM and GOAWAY)...
  [[nodiscard]] virtual bool can_be_refused() const = 0;
  /// ...and has said so of this one: it may be sent again on another connection.
  [[nodiscard]] virtual bool is_refused() const = 0;
  /// Of one that is free: awaits its end, or what it says unasked. It is of no use then.
  virtual loop::task<> ended(loop::time_point limit) = 0;
  /// What waits for its answer gets an error.
  virtual void abort() = 0;
  /// Awaits, until `limit` at the longest, whether the server may be asked to switch to that
  /// protocol, by the fields Connection and Upgrade.
  [[nodiscard]] virtual loop::task<bool> may_switch_to(std::string_view protocol,
                                                       loop::time_point limit) = 0;
  /// After an answer of 101: what carries the protocol that was agreed on. It goes before this.
  [[nodiscard]] virtual std::unique_ptr<net::byte_channel> upgrade() = 0;
};

}  // namespace strata::http
