#include "http/client/http1_client.hpp"

#include <fmt/format.h>

#include <iterator>

namespace strata::http {

loop::task<result<proto::http_response_head>> inquiry::final_head(loop::time_point limit) {
  for (;;) {
    auto next = co_await head(limit);
    if (!next || !proto::is_interim(next->status)) co_return next;
  }
}

void http1_client::restart(std::string_view method) {
  if (std::exchange(has_asked_, true)) parser_.restart();
  is_free_ = false;
  has_received_ = false;
  if (method == "HEAD") parser_.expect_no_body();
}

void http1_client::begin(const question& question) {
  restart(question.method);
  std::string text;
  text.reserve(512);
  text.append(question.method).append(" ").append(question.target).append(" HTTP/1.1\r\n");
  for (const auto& [name, value] : question.fields) {
    text.append(name).append(": ").append(value).append("\r\n");
  }
  is_asking_ = true;
  is_chunked_ = question.has_body && !question.length;
  // RFC 9110 section 8.6: a method whose body has a meaning states the length even if it is 0.
  const bool says_length = question.has_body || question.method == "POST" ||
                           question.method == "PUT" || question.method == "PATCH";
  if (is_chunked_) {
    text += "transfer-encoding: chunked\r\n";
  } else if (says_length) {
    fmt::format_to(std::back_inserter(text), "content-length: {}\r\n", question.length.value_or(0));
  }
  text += "\r\n";
  stream_->push_copy(as_bytes(text));
}

void http1_client::push(const loop::slice& piece) {
  if (piece.empty()) return;
  if (is_chunked_) stream_->push_copy(as_bytes(fmt::format("{:x}\r\n", piece.size())));
  stream_->push(piece);
  if (is_chunked_) stream_->push_copy(as_bytes("\r\n"));
}

void http1_client::finish(proto::http_fields trailers) {
  if (is_chunked_) stream_->push_copy(as_bytes(proto::http_last_chunk(trailers)));
  is_asking_ = false;
}

loop::task<bool> http1_client::room(std::size_t low) {
  const bool has_room = co_await stream_->writable(low);
  co_return has_room && stream_->broken() == 0;
}

loop::task<result<proto::http_response_head>> http1_client::head(loop::time_point limit) {
  for (;;) {
    if (auto interim = parser_.take_interim()) co_return std::move(*interim);
    if (parser_.head() != nullptr) co_return parser_.take_head();
    auto more = co_await receive(limit);
    if (!more) co_return std::unexpected(more.error());
  }
}

loop::task<result<proto::http_response_head>> http1_client::ask(std::string_view method,
                                                                std::string_view target,
                                                                const proto::http_fields& fields,
                                                                std::string_view body) {
  restart(method);
  stream_->push_copy(as_bytes(proto::http_request_text(method, target, fields, body)));
  co_return co_await final_head(loop::time_point::max());
}

loop::task<result<bool>> http1_client::receive(loop::time_point limit) {
  auto come = co_await stream_->receive(limit);
  if (!come) {
    co_return failure(errc::timed_out, "read the HTTP reply", "the server stopped sending");
  }
  auto& got = *come;
  if (!got) co_return std::unexpected(got.error());
  const bool is_end = got->empty();
  has_received_ = has_received_ || !is_end;
  auto taken = is_end ? parser_.finish() : parser_.feed(got->bytes());
  if (!taken) co_return std::unexpected(taken.error());
  co_return !is_end;
}

loop::task<result<std::string>> http1_client::read(loop::time_point limit) {
  for (bool open = true; open;) {
    if (auto body = parser_.take_body(); !body.empty()) co_return body;
    if (parser_.done()) break;
    auto more = co_await receive(limit);
    if (!more) co_return std::unexpected(more.error());
    open = *more;
  }
  is_free_ = parser_.done() && parser_.keep_alive() && !is_asking_;
  co_return parser_.take_body();
}

loop::task<> http1_client::ended(loop::time_point limit) {
  auto come = co_await stream_->receive(limit);
  (void)come;
}

loop::task<result<std::string>> http1_client::read_all(std::size_t most, loop::time_point limit) {
  std::string all;
  for (;;) {
    auto more = co_await read(limit);
    if (!more) co_return more;
    if (more->empty()) co_return all;
    all += *more;
    if (all.size() > most) {
      co_return failure(errc::limit_exceeded, "read the HTTP reply",
                        fmt::format("its body is longer than the limit of {} bytes", most));
    }
  }
}

std::unique_ptr<net::byte_channel> http1_client::upgrade() {
  stream_->unread(loop::buffer::copy_of(as_bytes(parser_.take_rest())));
  return std::move(stream_);
}

}  // namespace strata::http
