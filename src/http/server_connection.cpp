#include "http/server_connection.hpp"

#include <fmt/format.h>

namespace strata::http {

namespace {

// A client may have sent many requests at once: after this number, others have their turn. It also
// ends the nesting of coroutines that had nothing to wait for, each of which takes some stack where
// the compiler makes no tail calls.
constexpr unsigned requests_a_turn = 16;

}  // namespace

server_connection::server_connection(loop::loop& on, std::unique_ptr<net::stream> over,
                                     server_limits limits)
    : loop_(on),
      stream_(std::move(over)),
      limits_(limits),
      parser_({.max_header = limits.max_head, .max_body = proto::http_limits::unlimited}) {}

loop::task<> server_connection::serve(const handler& answer, const refusal& refuse) {
  for (unsigned served = 1;; ++served) {
    if (served % requests_a_turn == 0) co_await loop_.sleep(loop::duration::zero());
    // Awaited into a name each time: GCC 12 loses its way in a condition that awaits.
    const bool has_head = co_await next_head();
    if (!has_head) break;
    exchange now(*this, *parser_.head());
    now.keeps_alive_ = now.request().keep_alive;
    co_await answer(now);
    if (is_upgraded_) co_return;
    const bool can_answer = now.at_ == exchange::stage::open;
    if (!parsed_ && can_answer) break;
    if (can_answer) now.respond(500, "", "");
    bool goes_on = now.at_ == exchange::stage::answered && now.keeps_alive_;
    if (goes_on) goes_on = co_await pass_over_body();
    if (goes_on) goes_on = co_await room(limits_.max_unsent);
    if (!goes_on) {
      parsed_ = {};
      break;
    }
    parsed_ = parser_.restart();
  }
  if (!parsed_ && parser_.refusal_status() != 0) refuse_rest(refuse);
  (void)co_await room(0);
}

loop::task<bool> server_connection::next_head() {
  while (parsed_ && parser_.head() == nullptr) {
    const bool more = co_await receive();
    if (!more) co_return false;
  }
  co_return parsed_.has_value();
}

loop::task<bool> server_connection::receive() {
  auto got = co_await stream_->receive();
  if (!got || got->empty()) co_return false;
  parsed_ = parser_.take(got->bytes());
  co_return true;
}

// What nobody has read of a request's body stands before the next request.
loop::task<bool> server_connection::pass_over_body() {
  std::size_t passed = parser_.take_body().size();
  while (parsed_ && !parser_.done()) {
    if (passed > limits_.max_unread) co_return false;
    const bool more = co_await receive();
    if (!more) co_return false;
    passed += parser_.take_body().size();
  }
  co_return parsed_.has_value();
}

void server_connection::refuse_rest(const refusal& refuse) {
  const auto status = parser_.refusal_status();
  const auto [body, type] = refuse(status, parsed_.error());
  stream_->push_copy(as_bytes(proto::http_response(status, type, body, false)));
}

loop::task<bool> server_connection::room(std::size_t left) {
  const bool has_room = co_await stream_->writable(left, loop_.now() + limits_.write_timeout);
  co_return has_room && stream_->broken() == 0;
}

// --- exchange

std::string_view exchange::method() const {
  return request_.method == "HEAD" ? "GET" : std::string_view(request_.method);
}

loop::task<result<std::string>> exchange::read() { return read_within(SIZE_MAX); }

loop::task<result<std::string>> exchange::read_within(std::size_t most) {
  auto& from = connection_;
  if (from.parser_.announced_body() <= most && from.parser_.take_continue()) {
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
    const bool more = co_await from.receive();
    if (!more) {
      co_return failure(errc::connection_closed, "read the request's body",
                        "the client has closed the connection inside it");
    }
  }
}

loop::task<result<std::string>> exchange::read_all(std::size_t most) {
  std::string all;
  for (;;) {
    auto more = co_await read_within(most);
    if (!more) co_return more;
    if (more->empty()) co_return all;
    all += *more;
  }
}

void exchange::respond(int status, std::string_view type, std::string_view body) {
  // A client that still waits to be told to go on may send its body, or may not; and a body that
  // is long, or does not say how long it is, is not waited for.
  const auto& parser = connection_.parser_;
  const bool is_short = request_.header("content-length") &&
                        parser.announced_body() <= connection_.limits_.max_unread;
  if (!parser.done() && !is_short) keeps_alive_ = false;
  if (connection_.parser_.take_continue()) keeps_alive_ = false;
  auto text = proto::http_response(status, type, body, keeps_alive_);
  if (request_.method == "HEAD") text.resize(text.find("\r\n\r\n") + 4);
  connection_.stream_->push_copy(as_bytes(text));
  at_ = stage::answered;
}

void exchange::begin(int status, std::string_view type) {
  is_chunked_ = request_.version >= 11;
  proto::http_fields fields{{"Content-Type", std::string(type)}, {"Cache-Control", "no-store"}};
  if (is_chunked_) {
    fields.emplace_back("Transfer-Encoding", "chunked");
  } else {
    keeps_alive_ = false;
  }
  if (!keeps_alive_) fields.emplace_back("Connection", "close");
  connection_.stream_->push_copy(as_bytes(proto::http_response_head_text(status, fields)));
  at_ = stage::begun;
}

void exchange::push(std::string_view piece) {
  if (request_.method == "HEAD" || piece.empty()) return;
  if (is_chunked_) {
    connection_.stream_->push_copy(as_bytes(proto::http_chunk(piece)));
  } else {
    connection_.stream_->push_copy(as_bytes(piece));
  }
}

loop::task<bool> exchange::write(std::string_view piece) {
  push(piece);
  const bool has_room = co_await connection_.room(connection_.limits_.max_unsent);
  co_return has_room;
}

void exchange::finish() {
  if (is_chunked_ && request_.method != "HEAD") {
    connection_.stream_->push_copy(as_bytes(proto::http_last_chunk()));
  }
  at_ = stage::answered;
}

std::size_t exchange::unsent() const { return connection_.stream_->unsent(); }

loop::task<> exchange::client_end() {
  for (;;) {
    auto got = co_await connection_.stream_->receive();
    if (!got || got->empty()) co_return;
  }
}

void exchange::abort() { connection_.stream_->abort(); }

std::unique_ptr<net::stream> exchange::upgrade() {
  connection_.is_upgraded_ = true;
  at_ = stage::answered;
  auto taken = std::move(connection_.stream_);
  taken->unread(loop::buffer::copy_of(as_bytes(connection_.parser_.take_rest())));
  return taken;
}

}  // namespace strata::http
