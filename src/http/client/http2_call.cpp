#include "http/client/http2_call.hpp"

#include <algorithm>

#include "http/http2/http2_channel.hpp"
#include "net/tls/digest.hpp"
#include "proto/websocket/websocket_handshake.hpp"
#include "text/word.hpp"

namespace strata::http {

namespace {

// Interim answers that may be queued; later ones are dropped.
constexpr std::size_t max_interim = 16;

// Host becomes :authority. TE says that trailers are understood; its other values belong to
// HTTP/1.1.
proto::http_fields fields_of(const proto::http_fields& all) {
  proto::http_fields kept;
  kept.reserve(all.size() + 1);
  for (const auto& each : all) {
    if (each.first != "host" && each.first != "te") kept.push_back(each);
  }
  kept.emplace_back("te", "trailers");
  return kept;
}

}  // namespace

error http2_call::failed(const char* reason) const {
  return failure(errc::connection_closed, "read the HTTP reply", reason).error();
}

loop::task<bool> http2_call::may_switch_to(std::string protocol, loop::time_point limit) {
  if (!text::same_text(protocol, "websocket")) co_return false;
  const bool is_known = co_await changed().wait(
      [this] { return client_.session_.has_settings() || client_.is_over_; }, limit);
  // A connection that is gone reports that when the request begins.
  co_return is_known && (client_.is_over_ || client_.session_.takes_connect_protocol());
}

void http2_call::begin(const question& question) {
  auto fields = fields_of(question.fields);
  std::string_view protocol;
  if (const auto upgrade = proto::find_field(question.fields, "upgrade")) {
    protocol = "websocket";
    key_ = proto::find_field(question.fields, "sec-websocket-key").value_or("");
    std::erase_if(fields, [](const auto& each) { return each.first == "sec-websocket-key"; });
  }
  if (!client_.is_over_) {
    stream_ =
        client_.session_.ask({.method = protocol.empty() ? question.method : "CONNECT",
                              .protocol = protocol,
                              .scheme = client_.stream_->tls() != nullptr ? "https" : "http",
                              .authority = proto::find_field(question.fields, "host").value_or(""),
                              .target = question.target,
                              .fields = fields,
                              .length = question.has_body ? question.length : std::nullopt,
                              .has_body = question.has_body || !protocol.empty()},
                             *this);
  }
  is_gone_ = is_refused_ = stream_ == 0;
  client_.schedule_flush();
}

void http2_call::send(const loop::slice& piece) {
  if (is_gone_) return;
  body_.push(piece);
  client_.session_.resume(stream_);
  client_.schedule_flush();
}

// A WebSocket's request ends with its channel.
void http2_call::finish(proto::http_fields trailers) {
  if (!key_.empty() && channel_ == nullptr) return;
  trailers_ = std::move(trailers);
  is_said_ = true;
  if (is_gone_) return;
  client_.session_.resume(stream_);
  client_.schedule_flush();
}

loop::task<bool> http2_call::room(std::size_t low) {
  const bool has_room =
      co_await changed().wait([this, low] { return body_.bytes() <= low || is_gone_; });
  co_return has_room && !is_gone_;
}

loop::task<result<proto::http_response_head>> http2_call::head(loop::time_point limit) {
  const bool has_come =
      co_await changed().wait([this] { return !interim_.empty() || head_ || is_gone_; }, limit);
  if (!interim_.empty()) {
    auto next = std::move(interim_.front());
    interim_.pop_front();
    co_return next;
  }
  if (head_) co_return std::move(*head_);
  if (has_come) co_return std::unexpected(failed("the stream was reset, or its connection ended"));
  co_return failure(errc::timed_out, "read the HTTP reply", "the server stopped sending");
}

loop::task<result<std::string>> http2_call::read(loop::time_point limit) {
  const bool has_come = co_await changed().wait([this] { return has_news(); }, limit);
  if (!unread_.empty()) co_return take_unread();
  if (is_whole_) co_return std::string();
  if (has_come) co_return std::unexpected(failed("the stream was reset before its end"));
  co_return failure(errc::timed_out, "read the HTTP reply", "the server stopped sending");
}

void http2_call::cancel() {
  if (is_gone_) return;
  is_gone_ = true;
  body_.clear();
  if (stream_ != 0 && !client_.is_over_) client_.session_.reset(stream_, proto::http2_code::cancel);
  client_.schedule_flush();
  notify();
}

// The stream may have to be reset first.
void http2_call::leave() {
  is_left_ = true;
  drop_unread();
  cancel();
  const bool is_open = stream_ != 0 && !is_closed_ && !client_.is_over_;
  if (!is_open) client_.forget(*this);
}

void http2_call::credit(std::size_t bytes) {
  if (client_.is_over_) return;
  client_.session_.consume(stream_, bytes);
  client_.schedule_flush();
}

void http2_call::drop_unread() {
  if (unread_.empty() || client_.is_over_) return;
  client_.session_.consume(stream_, unread_.size());
  unread_.clear();
}

void http2_call::on_head(proto::http_response_head&& head) {
  has_received_ = true;
  if (proto::is_interim(head.status)) {
    if (interim_.size() < max_interim) interim_.push_back(std::move(head));
    return notify();
  }
  if (!key_.empty() && head.status / 100 == 2) {
    // The head that HTTP/1.1 would have.
    const auto hashed = proto::websocket_accept_text(key_);
    head.status = 101;
    head.headers.emplace_back("upgrade", "websocket");
    head.headers.emplace_back("sec-websocket-accept",
                              proto::websocket_accept(net::sha1(as_bytes(hashed))));
  }
  head_ = std::move(head);
  notify();
}

void http2_call::on_body(byte_span bytes) {
  unread_ += as_text(bytes);
  if (is_left_) drop_unread();
  notify();
}

void http2_call::on_close() {
  is_closed_ = true;
  is_gone_ = true;
  body_.clear();
  notify();
  if (is_left_) client_.forget(*this);
}

proto::http2_stream::supply http2_call::supplied() const {
  if (is_gone_) return {};
  return {.bytes = body_.bytes(),
          .is_last = is_said_,
          .trailers = trailers_.empty() ? nullptr : &trailers_};
}

void http2_call::move_body(std::size_t count) {
  body_.move(count, client_.output_);
  notify();
}

std::unique_ptr<net::byte_channel> http2_inquiry::upgrade() {
  return std::make_unique<http2_channel>(call_, on_);
}

}  // namespace strata::http
