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
                           loop::duration patience)
    : loop_(loop),
      stream_(std::move(stream)),
      patience_(patience),
      output_(*stream_),
      session_(*this, client_limits, proto::http2_role::client) {
  running_.spawn(receive());
  loop_.at_turn_end(*this);
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
    loop_.at_turn_end(*this);
  } else {
    loop_.arm_after(*this, patience_);
  }
}

void http2_client::retire() {
  if (std::exchange(is_retiring_, true) || !calls_.empty() || is_over_) return;
  session_.end(proto::http2_code::no_error);
  loop_.at_turn_end(*this);
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
  disarm();
  for (auto& each : calls_) {
    each.is_gone_ = true;
    each.body_.clear();
    each.notify();
  }
  stream_->abort();
}

void http2_client::give_output() {
  while (stream_->broken() == 0 && stream_->unsent() < http2_high_water) {
    const auto given = session_.give_output(http2_high_water - stream_->unsent());
    output_.push();
    if (given == 0) break;
  }
  if (calls_.empty()) output_.forget_block();
}

void http2_client::flush() {
  if (is_over_) return;
  give_output();
  if (!is_writing_ && session_.wants_output() && stream_->unsent() >= http2_high_water) {
    is_writing_ = true;
    running_.spawn(write_on());
  }
  if (!session_.is_over() || std::exchange(has_ended_, true)) return;
  stream_->end();
  loop_.arm_after(*this, longest_farewell);
}

loop::task<> http2_client::write_on() {
  do {
    const bool has_room = co_await stream_->writable(http2_low_water);
    if (!has_room || stream_->broken() != 0) break;
    give_output();
  } while (stream_->unsent() >= http2_high_water);
  is_writing_ = false;
}

}  // namespace strata::http
