// The server's side of HTTP/1.1 on one stream: requests in sequence, each passed to a handler.
//
// Waits are limited: a head must be complete in time, a body must make progress, and an idle
// connection is closed.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "http/exchange.hpp"
#include "http/served_connection.hpp"
#include "loop/loop.hpp"
#include "net/stream.hpp"
#include "proto/http/http1.hpp"
#include "proto/http/http2.hpp"

namespace strata::http {

struct server_limits {
  std::size_t max_head = proto::http_limits{}.max_header;
  /// Unsent bytes of answers for a client that sends further requests.
  std::size_t max_unsent = 1U << 20U;
  /// How long a client may read nothing while something waits for that.
  loop::duration write_timeout = std::chrono::seconds(5);
  /// Unread bytes of a body that are skipped to keep the connection.
  std::size_t max_unread = 1U << 20U;
  /// How long a head may take from its first byte; how long a body may pause; and how long a
  /// connection may be idle between two requests.
  loop::duration head_timeout = std::chrono::seconds(10);
  loop::duration body_timeout = std::chrono::seconds(30);
  loop::duration idle_timeout = std::chrono::seconds(75);
  /// For HTTP/2: concurrent exchanges.
  std::uint32_t max_streams = proto::http2_limits{}.max_streams;
};

/// Answers the exchange. If it ends without an answer, the client gets 500.
using handler = std::function<loop::task<>(exchange&)>;
/// Makes the body of an error that the connection itself answers: for a request that cannot be
/// parsed. The second element is its media type.
using refusal = std::function<std::pair<std::string, std::string>(int status, const error& why,
                                                                  const net::peer_info& client)>;

struct handlers {
  handler answer;
  refusal refuse;
};

/// The result of an operation, in the size of a pointer on success.
class kept_result {
 public:
  kept_result() = default;
  kept_result& operator=(result<void>&& outcome) {
    why_ = outcome ? nullptr : std::make_unique<strata::error>(std::move(outcome.error()));
    return *this;
  }
  explicit operator bool() const { return why_ == nullptr; }
  [[nodiscard]] const strata::error& error() const { return *why_; }

 private:
  std::unique_ptr<strata::error> why_;
};

class server_connection final : public served_connection, private loop::timer {
 public:
  explicit server_connection(std::unique_ptr<net::stream> stream);
  /// `limits` outlives the connection.
  server_connection(std::unique_ptr<net::stream> stream, const server_limits& limits);
  server_connection(std::unique_ptr<net::stream> stream, server_limits&& limits) = delete;

  /// Serves until the client or an answer ends the connection. `handlers` outlives that.
  loop::task<> serve(const handlers& handlers);
  void retire() override;
  [[nodiscard]] std::size_t held() const override {
    return stream_ ? request_bytes_ + stream_->unsent_in_memory() : 0;
  }
  void dismiss() override;
  [[nodiscard]] const net::stream* stream() const override { return stream_.get(); }

 private:
  friend class http1_exchange;
  /// What the connection waits for from the client.
  enum class awaiting : std::uint8_t { nothing, request, head, body, end };

  /// Reads until the parser has more. Returns false at the end of the connection, and at the
  /// deadline.
  loop::task<bool> receive();
  void take(byte_span bytes);
  /// Takes the first bytes of a request. Returns false at the end.
  bool take_first();
  /// Begins to wait for the next request. Returns true if none of it has arrived; then the parser
  /// is gone until `take_first`.
  bool begin_wait();
  /// Reads the head. Returns false at the end of the connection, and at the deadline.
  loop::task<bool> read_head();
  loop::task<bool> answer_one(const handler& answer);
  loop::task<> give_turn();
  loop::task<bool> pass_over_body();
  /// Reports to the client why no more is read, if that is the client's fault.
  void refuse_rest(const refusal& refuse);
  void answer_error(int status, const error& why, const refusal& refuse);
  loop::task<bool> room(std::size_t left);
  loop::task<> close();
  void expect(awaiting awaiting);
  /// Not once it has been upgraded.
  [[nodiscard]] loop::loop& home() const { return stream_->home(); }
  [[nodiscard]] proto::http_request_parser fresh_parser() const;
  void on_timer() override;

  std::unique_ptr<net::stream> stream_;
  const server_limits& limits_;
  proto::http_request_parser parser_;
  kept_result parsed_;
  loop::time_point deadline_ = loop::time_point::max();
  std::size_t request_bytes_ = 0;  // bytes received of the present request
  awaiting awaited_ = awaiting::nothing;
  bool is_late_ = false;  // the client missed a deadline
  bool is_upgraded_ = false;
  bool is_retiring_ = false;  // no further exchange follows
};

}  // namespace strata::http
