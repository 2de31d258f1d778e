#include "http/http1_exchange.hpp"

#include <fmt/compile.h>

#include "http/http_date.hpp"

namespace strata::http {

namespace {

void append_fields(std::string& text, const proto::http_fields& fields) {
  for (const auto& [name, value] : fields) {
    text.append(name).append(": ").append(value).append("\r\n");
  }
}

}  // namespace

bool http1_exchange::has_body() const {
  const auto length = request().header("content-length");
  return (length && *length != "0") || request().header("transfer-encoding");
}

loop::task<result<std::string>> http1_exchange::read(std::uint64_t most) {
  auto& from = connection_;
  const bool says_continue = says_continue_ && from.parser_.announced_body() <= most;
  if (says_continue && from.parser_.take_continue()) {
    from.stream_->push_copy(as_bytes(proto::http_continue));
  }
  for (;;) {
    if (!from.parsed_) co_return std::unexpected(from.parsed_.error());
    if (from.parser_.announced_body() > most) {
      keeps_alive_ = false;
      co_return failure(errc::limit_exceeded, "read the request's body",
                        fmt::format("it is longer than the limit of {} bytes", most));
    }
    if (auto body = from.parser_.take_body(); !body.empty() || from.parser_.done()) {
      co_return body;
    }
    from.expect(server_connection::awaiting::body);
    const bool more = co_await from.receive();
    from.expect(server_connection::awaiting::nothing);
    if (!more) {
      keeps_alive_ = false;
      if (from.is_late_) {
        co_return failure(errc::timed_out, "read the request's body",
                          "the client stopped sending before its end");
      }
      co_return failure(errc::connection_closed, "read the request's body",
                        "the client closed the connection before its end");
    }
  }
}

// Decides whether the rest of the request ends the connection. A client that still waits for 100
// may send its body or not, and a body that is long, or has no length, is not waited for.
void http1_exchange::look_at_rest_of_request() {
  auto& parser = connection_.parser_;
  const bool is_short = request().header("content-length") &&
                        parser.announced_body() <= connection_.limits_.max_unread;
  if (!parser.done() && !is_short) keeps_alive_ = false;
  if (parser.take_continue()) keeps_alive_ = false;
}

std::string http1_exchange::head_text(const answer_head& head) {
  look_at_rest_of_request();
  if (connection_.is_retiring_) keeps_alive_ = false;
  note_head(head.status);
  std::string text;
  text.reserve(512);
  fmt::format_to(std::back_inserter(text), FMT_COMPILE("HTTP/1.1 {} {}\r\n"), head.status,
                 head.reason.empty() ? proto::http_reason(head.status) : head.reason);
  if (!head.has_date) text.append("Date: ").append(date_now()).append("\r\n");
  if (head.standing != nullptr) append_fields(text, *head.standing);
  append_fields(text, head.fields);
  if (!may_have_body(head.status)) {
    ends_by_ = ending::no_body;
  } else if (head.length) {
    ends_by_ = ending::length;
    fmt::format_to(std::back_inserter(text), FMT_COMPILE("Content-Length: {}\r\n"), *head.length);
  } else if (request().version >= 11) {
    ends_by_ = ending::chunks;
    text += "Transfer-Encoding: chunked\r\n";
  } else {
    ends_by_ = ending::close;
    keeps_alive_ = false;
  }
  if (!keeps_alive_) {
    text += "Connection: close\r\n";
  } else if (request().version < 11) {
    text += "Connection: keep-alive\r\n";
  }
  text += "\r\n";
  show_head(text);
  if (is_head()) ends_by_ = ending::no_body;
  return text;
}

void http1_exchange::respond(answer_head head, std::string_view body) {
  head.length = body.size();
  auto text = head_text(head);
  if (ends_by_ != ending::no_body) {
    text += body;
    note_body(body.size());
  }
  connection_.stream_->push_copy(as_bytes(text));
  note_end();
}

void http1_exchange::inform(int status, const proto::http_fields& fields) {
  if (request().version < 11) return;
  if (status == 100) (void)connection_.parser_.take_continue();
  connection_.stream_->push_copy(as_bytes(proto::http_response_head_text(status, fields)));
}

void http1_exchange::begin(answer_head head) {
  connection_.stream_->push_copy(as_bytes(head_text(head)));
}

void http1_exchange::push(const loop::slice& piece) {
  if (ends_by_ == ending::no_body || piece.empty()) return;
  auto& to = *connection_.stream_;
  note_body(piece.size());
  if (ends_by_ != ending::chunks) {
    to.push(piece);
    return;
  }
  to.push_copy(as_bytes(fmt::format("{:x}\r\n", piece.size())));
  to.push(piece);
  to.push_copy(as_bytes("\r\n"));
}

loop::task<bool> http1_exchange::write_file(loop::file_part part) {
  auto& to = *connection_.stream_;
  if (ends_by_ != ending::length || to.tls() != nullptr) {
    const bool is_written = co_await exchange::write_file(part);
    co_return is_written;
  }
  note_body(part.count);
  to.push_file(part);
  const bool is_sent = co_await connection_.room(0);
  co_return is_sent;
}

void http1_exchange::finish(proto::http_fields trailers) {
  if (ends_by_ == ending::chunks) {
    connection_.stream_->push_copy(as_bytes(proto::http_last_chunk(trailers)));
  }
  note_end();
  if (receives_nothing_) connection_.stream_->end();
}

loop::task<bool> http1_exchange::room() { return connection_.room(connection_.limits_.max_unsent); }

loop::task<> http1_exchange::client_end() {
  receives_nothing_ = true;
  keeps_alive_ = false;
  for (;;) {
    auto got = co_await connection_.stream_->receive();
    if (!got || got->empty()) co_return;
  }
}

// Received data is the rest of this request, or the next requests. A client that sends more than a
// head's limit has not left, and is not read any further.
loop::task<> http1_exchange::client_left() {
  auto& from = connection_;
  for (std::size_t received = 0; received <= from.limits_.max_head;) {
    const auto got = co_await from.stream_->receive();
    if (!got || got->empty()) co_return;
    received += got->bytes().size();
    from.request_bytes_ += got->bytes().size();
    if (from.parsed_) from.parsed_ = from.parser_.take(got->bytes());
  }
  co_await from.home().sleep(std::chrono::hours(24 * 365));
}

std::unique_ptr<net::byte_channel> http1_exchange::upgrade(const proto::http_fields& fields) {
  connection_.is_upgraded_ = true;
  note_head(101);
  note_end();
  auto taken = std::move(connection_.stream_);
  taken->unread(loop::buffer::copy_of(as_bytes(connection_.parser_.take_rest())));
  std::string head = "HTTP/1.1 101 Switching Protocols\r\n";
  append_fields(head, fields);
  taken->push_copy(as_bytes(head += "\r\n"));
  show_head(head);
  return taken;
}

}  // namespace strata::http
