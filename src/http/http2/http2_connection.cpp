#include "http/http2/http2_connection.hpp"

#include <algorithm>

#include "http/http2/http2_exchange.hpp"

namespace strata::http {

using namespace std::chrono_literals;

namespace {

// How long a client may read nothing, and not end the connection, after it was sent the reason why
// nothing more is read.
constexpr auto longest_rest = 1s;

}  // namespace

http2_connection::http2_connection(loop::loop& loop, std::unique_ptr<net::stream> stream,
                                   server_limits limits)
    : http2_transport(loop, std::move(stream),
                      {.max_header = limits.max_head, .max_streams = limits.max_streams},
                      proto::http2_role::server),
      limits_(limits),
      idle_since_(loop.now()) {}

http2_connection::~http2_connection() { running_.cancel(); }

loop::task<> http2_connection::serve(const handlers& handlers) {
  handlers_ = &handlers;
  schedule_flush();
  watch_head();
  arm_next();
  for (unsigned pieces = 1;; ++pieces) {
    if (pieces % http2_pieces_a_turn == 0) co_await loop_.sleep(loop::duration::zero());
    const auto got = co_await stream_->receive();
    if (!got || got->empty()) break;
    if (!is_parting_) take(got->bytes());
  }
  disarm();
  running_.cancel();
}

void http2_connection::take(byte_span bytes) {
  bytes_received += bytes.size();
  last_active = loop_.now();
  const auto taken = session_.feed(bytes, loop_.now());
  start_arrived();
  watch_head();
  if (!taken) {
    part();
  } else if (session_.wants_output() || session_.is_over()) {
    schedule_flush();
  }
}

proto::http2_stream* http2_connection::on_request(arrival&& come) {
  auto& made = exchanges_.emplace_back(*this, std::move(come));
  made.place_ = std::prev(exchanges_.end());
  arrived_.push_back(&made);
  return &made;
}

// Not inside the session, so that a request that is cancelled at once costs no handler.
void http2_connection::start_arrived() {
  for (auto* const each : arrived_) {
    if (each->is_closed()) {
      forget(*each);
    } else {
      running_.spawn(run(*each));
    }
  }
  arrived_.clear();
}

loop::task<> http2_connection::run(http2_exchange& exchange) {
  ++requests;
  ++unanswered;
  if (exchange.refusal_status() != 0) {
    const auto [body, type] =
        handlers_->refuse(exchange.refusal_status(), exchange.why_refused(), exchange.peer());
    exchange.respond(exchange.refusal_status(), type, body);
  } else {
    co_await handlers_->answer(exchange);
  }
  exchange.end_handler();
  --unanswered;
  if (exchange.is_closed()) forget(exchange);
}

void http2_connection::forget(http2_exchange& gone) {
  exchanges_.erase(gone.place_);
  if (exchanges_.empty()) idle_since_ = loop_.now();
}

void http2_connection::on_flush() {
  if (session_.is_over()) part();
}

void http2_connection::part() {
  if (is_parting_) return;
  give_output();
  close_output();
  is_parting_ = true;
  if (stream_->broken() == 0) stream_->end();
  left_at_parting_ = stream_->unsent();
  loop_.arm_after(*this, longest_rest);
}

std::size_t http2_connection::held() const {
  auto all = stream_->unsent();
  for (const auto& each : exchanges_) all += each.held();
  return all;
}

void http2_connection::retire() {
  if (is_parting_) return;
  session_.retire();
  schedule_flush();
}

void http2_connection::watch_head() {
  if (!session_.awaits_head()) {
    head_since_.reset();
  } else if (!head_since_) {
    head_since_ = loop_.now();
    if (armed() && head_since_.value() + limits_.head_timeout < deadline()) arm_next();
  }
}

// Resets streams whose handlers have ended, and whose clients read no more of the answer or do not
// end the request.
void http2_connection::end_lingering() {
  const auto then = loop_.now() - limits_.body_timeout;
  for (auto& each : exchanges_) {
    if (each.lingers_since(then)) each.reset(proto::http2_code::cancel);
  }
}

void http2_connection::arm_next() {
  auto next = exchanges_.empty() ? idle_since_ + limits_.idle_timeout
                                 : loop_.now() + limits_.body_timeout / 2;
  if (head_since_) next = std::min(next, *head_since_ + limits_.head_timeout);
  loop_.arm(*this, next);
}

void http2_connection::on_timer() {
  const auto now = loop_.now();
  if (is_parting_) {
    const auto left = std::exchange(left_at_parting_, stream_->unsent());
    if (left_at_parting_ == 0 || left_at_parting_ >= left) return stream_->leave();
    loop_.arm_after(*this, longest_rest);
    return;
  }
  const bool is_late = head_since_ && now >= *head_since_ + limits_.head_timeout;
  const bool is_idle = exchanges_.empty() && now >= idle_since_ + limits_.idle_timeout;
  if (is_late || is_idle) {
    session_.end(proto::http2_code::no_error);
    part();
    return;
  }
  end_lingering();
  arm_next();
}

}  // namespace strata::http
