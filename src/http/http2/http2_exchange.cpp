#include "http/http2/http2_exchange.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "http/http2/http2_channel.hpp"
#include "http/http_date.hpp"
#include "proto/http/http_fields.hpp"

namespace strata::http {

namespace {

// Unsent bytes of one answer while the client's window is closed: a connection may have a hundred
// answers.
constexpr std::size_t max_unsent_of_one = 64U << 10U;

}  // namespace

http2_exchange::http2_exchange(http2_connection& connection, proto::http2_listener::arrival&& come)
    : exchange(come_.request),
      http2_flow(connection.loop_),
      connection_(connection),
      come_(std::move(come)),
      touched_(connection.loop_.now()),
      is_waiting_for_continue_(!come_.is_whole &&
                               proto::has_token(request().headers, "expect", "100-continue")) {
  is_whole_ = come_.is_whole;
}

loop::task<result<std::string>> http2_exchange::read(std::uint64_t most) {
  for (;;) {
    if (std::max(received_, come_.announced_body.value_or(0)) > most) {
      co_return failure(errc::limit_exceeded, "read the request's body",
                        fmt::format("it is longer than the limit of {} bytes", most));
    }
    if (!unread_.empty()) co_return take_unread();
    if (is_whole_) co_return std::string();
    if (is_gone()) {
      co_return failure(errc::connection_closed, "read the request's body",
                        "the client canceled the request before its end");
    }
    demand_body();
    const auto limit = connection_.loop_.now() + connection_.limits_.body_timeout;
    const bool has_come = co_await changed().wait([this] { return has_news(); }, limit);
    if (!has_come) {
      co_return failure(errc::timed_out, "read the request's body",
                        "the client stopped sending before its end");
    }
  }
}

// The client waits for 100 before it sends its body.
void http2_exchange::demand_body() {
  if (!std::exchange(is_waiting_for_continue_, false) || has_begun()) return;
  inform(100, {});
}

void http2_exchange::inform(int status, const proto::http_fields& fields) {
  if (is_gone()) return;
  connection_.session_.inform(come_.stream, status, fields);
  connection_.schedule_flush();
}

void http2_exchange::begin(answer_head head) {
  note_head(head.status);
  if (is_gone()) return;
  has_body_ = may_have_body(head.status) && !is_head() && head.length.value_or(1) != 0;
  if (!may_have_body(head.status)) head.length.reset();
  if (head.standing != nullptr) {
    head.fields.insert(head.fields.end(), head.standing->begin(), head.standing->end());
  }
  if (is_watched()) show_head(proto::http_response_head_text(head.status, head.fields));
  connection_.session_.answer(come_.stream, {.status = head.status,
                                             .fields = head.fields,
                                             .date = head.has_date ? "" : date_now(),
                                             .length = head.length,
                                             .has_body = has_body_});
  connection_.schedule_flush();
}

void http2_exchange::push(const loop::slice& piece) {
  if (!has_body_ || is_gone() || piece.empty()) return;
  note_body(piece.size());
  body_.push(piece);
  connection_.session_.resume(come_.stream);
  connection_.schedule_flush();
}

void http2_exchange::finish(proto::http_fields trailers) {
  note_end();
  trailers_ = std::move(trailers);
  if (!has_body_ || is_gone()) return;
  connection_.session_.resume(come_.stream);
  connection_.schedule_flush();
}

proto::http2_stream::supply http2_exchange::supplied() const {
  if (is_aborted_) return {};
  return {.bytes = body_.bytes(),
          .is_last = is_answered(),
          .trailers = trailers_.empty() ? nullptr : &trailers_};
}

void http2_exchange::move_body(std::size_t count) {
  touched_ = connection_.loop_.now();
  body_.move(count, connection_.output_);
  notify();
}

// Waits as long as the client reads something.
loop::task<bool> http2_exchange::room() {
  const auto left = std::min(connection_.limits_.max_unsent, max_unsent_of_one);
  for (;;) {
    if (is_gone()) co_return false;
    const auto before = body_.bytes();
    if (before <= left) co_return true;
    const auto limit = connection_.loop_.now() + connection_.limits_.write_timeout;
    const bool has_room =
        co_await changed().wait([this, left] { return body_.bytes() <= left || is_gone(); }, limit);
    if (!has_room && body_.bytes() >= before) co_return false;
  }
}

loop::task<> http2_exchange::delivered(loop::time_point limit) {
  const bool is_sent =
      co_await changed().wait([this] { return body_.bytes() == 0 || is_gone(); }, limit);
  if (is_sent) co_await connection_.stream_->delivered(limit);
}

loop::task<> http2_exchange::client_end() {
  drops_body_ = true;
  drop_unread();
  const bool is_over = co_await changed().wait([this] { return is_gone(); });
  (void)is_over;
}

loop::task<> http2_exchange::client_left() {
  const bool is_over = co_await changed().wait([this] { return is_gone(); });
  (void)is_over;
}

std::unique_ptr<net::byte_channel> http2_exchange::upgrade(const proto::http_fields& fields) {
  assert(!request().protocol.empty() && !has_begun());
  begin({.status = 200, .fields = fields, .length = {}});
  return std::make_unique<http2_channel>(*this);
}

void http2_exchange::abort() { reset(proto::http2_code::internal_error); }

void http2_exchange::reset(proto::http2_code why) {
  if (is_gone()) return;
  is_aborted_ = true;
  body_.clear();
  connection_.session_.reset(come_.stream, why);
  connection_.schedule_flush();
  notify();
}

void http2_exchange::on_body(byte_span bytes) {
  touched_ = connection_.loop_.now();
  received_ += bytes.size();
  unread_ += as_text(bytes);
  if (drops_body_) drop_unread();
  notify();
}

void http2_exchange::on_close() {
  is_closed_ = true;
  body_.clear();
  notify();
  if (is_done_) connection_.forget(*this);
}

void http2_exchange::credit(std::size_t bytes) {
  connection_.session_.consume(come_.stream, bytes);
  connection_.schedule_flush();
}

// A client may have to send its whole body before it reads the answer; but not without a limit.
void http2_exchange::drop_unread() {
  dropped_ += unread_.size();
  if (!unread_.empty()) credit(unread_.size());
  std::string().swap(unread_);
  if (dropped_ > connection_.limits_.max_unread && is_done_ && body_.bytes() == 0) {
    reset(proto::http2_code::no_error);
  }
}

void http2_exchange::end_handler() {
  is_done_ = true;
  touched_ = connection_.loop_.now();
  drops_body_ = true;
  if (!has_begun()) respond(500, "", "");
  if (!is_answered()) abort();
  drop_unread();
}

}  // namespace strata::http
