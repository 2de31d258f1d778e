#include "http/client_connection.hpp"

#include <fmt/format.h>

namespace strata::http {

loop::task<result<proto::http_response_head>> client_connection::ask(
    std::string_view method, std::string_view target, const proto::http_fields& fields,
    std::string_view body) {
  if (std::exchange(has_asked_, true)) parser_.restart();
  is_free_ = false;
  if (method == "HEAD") parser_.expect_no_body();
  stream_->push_copy(as_bytes(proto::http_request_text(method, target, fields, body)));
  while (parser_.head() == nullptr) {
    auto more = co_await receive();
    if (!more) co_return std::unexpected(more.error());
  }
  co_return *parser_.head();
}

loop::task<result<bool>> client_connection::receive() {
  auto got = co_await stream_->receive();
  if (!got) co_return std::unexpected(got.error());
  const bool is_end = got->empty();
  auto taken = is_end ? parser_.finish() : parser_.feed(got->bytes());
  if (!taken) co_return std::unexpected(taken.error());
  co_return !is_end;
}

loop::task<result<std::string>> client_connection::read() {
  for (bool open = true; open;) {
    if (auto body = parser_.take_body(); !body.empty()) co_return body;
    if (parser_.done()) break;
    auto more = co_await receive();
    if (!more) co_return std::unexpected(more.error());
    open = *more;
  }
  is_free_ = parser_.done() && parser_.keep_alive();
  co_return parser_.take_body();
}

loop::task<result<std::string>> client_connection::read_all(std::size_t most) {
  std::string all;
  for (;;) {
    auto more = co_await read();
    if (!more) co_return more;
    if (more->empty()) co_return all;
    all += *more;
    if (all.size() > most) {
      co_return failure(errc::limit_exceeded, "read the HTTP reply",
                        fmt::format("its body is longer than the limit of {} bytes", most));
    }
  }
}

std::unique_ptr<net::stream> client_connection::upgrade() {
  stream_->unread(loop::buffer::copy_of(as_bytes(parser_.take_rest())));
  return std::move(stream_);
}

}  // namespace strata::http
