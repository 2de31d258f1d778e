#include "http/http2_call.hpp"

#include <algorithm>

namespace strata::http {

namespace {

// Host is :authority. That trailers are understood has to be said; the rest of TE is of HTTP/1.1.
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

void http2_call::begin(const question& what) {
  const auto fields = fields_of(what.fields);
  if (!client_.is_over_) {
    stream_ =
        client_.session_.ask({.method = what.method,
                              .scheme = client_.stream_->tls() != nullptr ? "https" : "http",
                              .authority = proto::find_field(what.fields, "host").value_or(""),
                              .target = what.target,
                              .fields = fields,
                              .length = what.has_body ? what.length : std::nullopt,
                              .has_body = what.has_body},
                             *this);
  }
  is_gone_ = stream_ == 0;
  client_.loop_.at_turn_end(client_);
}

void http2_call::push(std::string_view piece) {
  if (is_gone_ || piece.empty()) return;
  body_.push(loop::slice::copy_of(as_bytes(piece)));
  client_.session_.resume(stream_);
  client_.loop_.at_turn_end(client_);
}

void http2_call::finish(proto::http_fields trailers) {
  trailers_ = std::move(trailers);
  is_said_ = true;
  if (is_gone_) return;
  client_.session_.resume(stream_);
  client_.loop_.at_turn_end(client_);
}

loop::task<bool> http2_call::room(std::size_t low) {
  const bool has_room =
      co_await changed_.wait([this, low] { return body_.bytes() <= low || is_gone_; });
  co_return has_room && !is_gone_;
}

loop::task<result<proto::http_response_head>> http2_call::head(loop::time_point limit) {
  const bool has_come = co_await changed_.wait([this] { return head_ || is_gone_; }, limit);
  if (head_) co_return std::move(*head_);
  if (has_come) co_return std::unexpected(failed("the stream was reset, or its connection ended"));
  co_return failure(errc::timed_out, "read the HTTP reply", "the server has stopped sending");
}

loop::task<result<std::string>> http2_call::read(loop::time_point limit) {
  const bool has_come =
      co_await changed_.wait([this] { return !unread_.empty() || is_whole_ || is_gone_; }, limit);
  if (!unread_.empty()) {
    client_.session_.consume(stream_, unread_.size());
    client_.loop_.at_turn_end(client_);
    co_return std::exchange(unread_, {});
  }
  if (is_whole_) co_return std::string();
  if (has_come) co_return std::unexpected(failed("the stream was reset inside it"));
  co_return failure(errc::timed_out, "read the HTTP reply", "the server has stopped sending");
}

void http2_call::abort() {
  if (is_gone_) return;
  is_gone_ = true;
  body_.clear();
  if (stream_ != 0 && !client_.is_over_) client_.session_.reset(stream_, proto::http2_code::cancel);
  client_.loop_.at_turn_end(client_);
  changed_.notify();
}

// Its stream may have to be taken back first.
void http2_call::leave() {
  is_left_ = true;
  drop_unread();
  abort();
  const bool is_open = stream_ != 0 && !is_closed_ && !client_.is_over_;
  if (!is_open) client_.forget(*this);
}

void http2_call::drop_unread() {
  if (unread_.empty() || client_.is_over_) return;
  client_.session_.consume(stream_, unread_.size());
  unread_.clear();
}

void http2_call::on_head(proto::http_response_head&& head) {
  has_heard_ = true;
  head_ = std::move(head);
  changed_.notify();
}

void http2_call::on_body(byte_span bytes) {
  unread_ += as_text(bytes);
  if (is_left_) drop_unread();
  changed_.notify();
}

void http2_call::on_end() {
  is_whole_ = true;
  changed_.notify();
}

void http2_call::on_close() {
  is_closed_ = true;
  is_gone_ = true;
  body_.clear();
  changed_.notify();
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
  changed_.notify();
}

}  // namespace strata::http
