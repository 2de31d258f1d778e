#include "http/client/http2_client.hpp"

#include <algorithm>

#include "http/client/http2_call.hpp"

namespace strata::http {

namespace {

constexpr auto longest_farewell = std::chrono::seconds(1);

// The connection's window has room for all of its streams: an unread stream holds up no other.
constexpr proto::http2_limits client_limits{.max_header = 64U << 10U,
                                            .max_streams = 100,
                                            .stream_window = 64U << 10U,
                                            .connection_window = 100 * (64U << 10U)};

}  // namespace

http2_client::http2_client(loop::loop& loop, std::unique_ptr<net::stream> stream,
                           loop::duration timeout)
    : http2_transport(loop, std::move(stream), client_limits, proto::http2_role::client),
      timeout_(timeout) {
  running_.spawn(receive());
  schedule_flush();
}

http2_client::~http2_client() { running_.cancel(); }

bool http2_client::takes_more() const { return !is_over_ && !is_retiring_ && session_.may_ask(); }

std::unique_ptr<inquiry> http2_client::open() {
  disarm();
  calls_.emplace_back(*this);
  return std::make_unique<http2_inquiry>(shared_from_this(), calls_.back());
}

void http2_client::forget(http2_call& gone) {
  std::erase_if(calls_, [&gone](const http2_call& each) { return &each == &gone; });
  if (!calls_.empty() || is_over_) return;
  if (is_retiring_) {
    session_.end(proto::http2_code::no_error);
    schedule_flush();
  } else {
    loop_.arm_after(*this, timeout_);
  }
}

void http2_client::retire() {
  if (std::exchange(is_retiring_, true) || !calls_.empty() || is_over_) return;
  session_.end(proto::http2_code::no_error);
  schedule_flush();
}

// After its farewell the client waits until the server closes.
void http2_client::on_timer() {
  if (has_ended_) return stream_->abort();
  retire();
}

loop::task<> http2_client::receive() {
  for (unsigned pieces = 1;; ++pieces) {
    if (pieces % http2_pieces_a_turn == 0) co_await loop_.sleep(loop::duration::zero());
    const auto got = co_await stream_->receive();
    if (!got || got->empty()) break;
    const bool knew_settings = session_.has_settings();
    const auto taken = session_.feed(got->bytes(), loop_.now());
    if (!knew_settings && session_.has_settings()) {
      for (auto& each : calls_) each.notify();
    }
    flush();
    if (!taken) break;
  }
  end_calls();
}

void http2_client::end_calls() {
  is_over_ = true;
  close_output();
  disarm();
  for (auto& each : calls_) {
    each.is_gone_ = true;
    each.body_.clear();
    each.notify();
  }
  stream_->abort();
}

void http2_client::on_flush() {
  if (is_over_ || !session_.is_over() || std::exchange(has_ended_, true)) return;
  stream_->end();
  loop_.arm_after(*this, longest_farewell);
}

}  // namespace strata::http
