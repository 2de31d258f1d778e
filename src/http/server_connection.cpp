#include "http/server_connection.hpp"

#include <utility>

#include "http/http1_exchange.hpp"

namespace strata::http {

using namespace std::chrono_literals;

namespace {

// A client may have sent many requests at once: after this number, other connections run. It also
// limits the nesting of coroutines that did not have to wait, each of which takes stack if the
// compiler makes no tail calls.
constexpr unsigned requests_a_turn = 16;
// Other connections also run once this much of its answers is unsent: for long answers, writing
// takes the time.
constexpr std::size_t bytes_a_turn = 64U << 10U;
// How long a client may take to end the connection after it was sent the reason why nothing more is
// read.
constexpr auto longest_parting = 1s;
// How often a retiring connection is checked while an answer is being sent.
constexpr auto look_interval = 20ms;
constexpr server_limits usual_limits;

}  // namespace

server_connection::server_connection(std::unique_ptr<net::stream> stream)
    : server_connection(std::move(stream), usual_limits) {}

server_connection::server_connection(std::unique_ptr<net::stream> stream,
                                     const server_limits& limits)
    : stream_(std::move(stream)), limits_(limits), parser_(fresh_parser()) {}

proto::http_request_parser server_connection::fresh_parser() const {
  return proto::http_request_parser(
      {.max_header = limits_.max_head, .max_body = proto::http_limits::unlimited});
}

loop::task<> server_connection::serve(const handlers& handlers) {
  for (unsigned served = 1;; ++served) {
    if (served % requests_a_turn == 0 || stream_->unsent_in_memory() > bytes_a_turn) {
      co_await give_turn();
    }
    if (begin_wait()) {
      // Most connections spend their time here: no other coroutine of theirs waits meanwhile.
      co_await stream_->ready();
      if (!take_first()) break;
    }
    // The result gets a name each time: GCC 12 mishandles a condition that contains co_await.
    if (parsed_ && parser_.head() == nullptr) {
      const bool has_come = co_await read_head();
      if (!has_come) break;
    }
    expect(awaiting::nothing);
    if (!parsed_) break;
    const bool goes_on = co_await answer_one(handlers.answer);
    if (is_upgraded_) co_return;
    if (!goes_on) break;
    parsed_ = parser_.restart();
  }
  refuse_rest(handlers.refuse);
  co_await close();
}

// A separate coroutine, so that the coroutines that wait for long need no room for the timer.
loop::task<> server_connection::give_turn() { co_await home().sleep(loop::duration::zero()); }

// Reports whether another request may follow on the connection.
loop::task<bool> server_connection::answer_one(const handler& answer) {
  http1_exchange now(*this, *parser_.head());
  ++requests;
  ++unanswered;
  co_await answer(now);
  if (is_upgraded_) co_return false;
  is_late_ = false;
  const bool can_answer = !now.has_begun();
  // A malformed body is answered like a malformed head.
  if (!parsed_ && can_answer) co_return false;
  if (can_answer) now.respond(500, "", "");
  --unanswered;
  bool goes_on = now.is_answered() && now.keeps_alive() && !is_retiring_;
  const bool is_whole = parsed_ && parser_.done();
  if (goes_on && !is_whole) goes_on = co_await pass_over_body();
  if (goes_on && stream_->unsent() > limits_.max_unsent)
    goes_on = co_await room(limits_.max_unsent);
  goes_on = goes_on && stream_->broken() == 0;
  if (!goes_on) parsed_ = result<void>{};
  co_return goes_on;
}

bool server_connection::begin_wait() {
  expect(awaiting::request);
  last_whole = home().now();
  request_bytes_ = 0;
  if (!parsed_ || parser_.head() != nullptr || !parser_.idle()) return false;
  const auto unused = std::move(parser_);
  return true;
}

loop::task<bool> server_connection::read_head() {
  while (parsed_ && parser_.head() == nullptr) {
    if (awaited_ == awaiting::request) expect(awaiting::head);
    const bool more = co_await receive();
    if (!more) co_return false;
  }
  co_return true;
}

bool server_connection::take_first() {
  const auto got = stream_->take_ready();
  if (!got || got->empty()) return false;
  parser_ = fresh_parser();
  take(got->bytes());
  return true;
}

loop::task<bool> server_connection::receive() {
  const auto got = co_await stream_->receive(deadline_);
  is_late_ = !got;
  if (!got || !*got || (*got)->empty()) co_return false;
  take((*got)->bytes());
  co_return true;
}

void server_connection::take(byte_span bytes) {
  request_bytes_ += bytes.size();
  bytes_received += bytes.size();
  last_active = home().now();
  parsed_ = parser_.take(bytes);
}

// The unread rest of a request's body precedes the next request.
loop::task<bool> server_connection::pass_over_body() {
  std::size_t passed = parser_.take_body().size();
  while (parsed_ && !parser_.done()) {
    if (passed > limits_.max_unread) co_return false;
    expect(awaiting::body);
    const bool more = co_await receive();
    expect(awaiting::nothing);
    if (!more) co_return false;
    passed += parser_.take_body().size();
  }
  co_return static_cast<bool>(parsed_);
}

// A client that is still receiving its previous answer may finish.
void server_connection::retire() {
  is_retiring_ = true;
  if (awaited_ == awaiting::request) on_timer();
}

void server_connection::refuse_rest(const refusal& refuse) {
  if (is_late_) {
    answer_error(
        408,
        failure(errc::timed_out, "read the HTTP request", "its head was not complete in time")
            .error(),
        refuse);
  } else if (!parsed_ && parser_.refusal_status() != 0) {
    answer_error(parser_.refusal_status(), parsed_.error(), refuse);
  }
}

void server_connection::answer_error(int status, const error& why, const refusal& refuse) {
  const auto [body, type] = refuse(status, why, stream_->peer());
  stream_->push_copy(as_bytes(proto::http_response(status, type, body, false)));
}

// Waits as long as the client reads something. Returns at once, without creating the lasting state
// of a wait, if there is room.
loop::task<bool> server_connection::room(std::size_t left) {
  if (stream_->unsent() <= left) co_return stream_->broken() == 0;
  for (;;) {
    const auto before = stream_->unsent();
    const bool has_room = co_await stream_->writable(left, home().now() + limits_.write_timeout);
    if (stream_->broken() != 0) co_return false;
    if (has_room) co_return true;
    if (stream_->unsent() >= before) co_return false;
  }
}

// Data from the client is read meanwhile: closing with unread data makes the kernel send a reset,
// which may overtake the answer.
loop::task<> server_connection::close() {
  const bool is_sent = co_await room(0);
  if (!is_sent) co_return;
  stream_->end();
  awaited_ = awaiting::end;
  home().arm_after(*this, longest_parting);
  for (;;) {
    const auto said = co_await stream_->receive();
    if (!said || said->empty()) break;
  }
  disarm();
}

void server_connection::expect(awaiting awaiting) {
  awaited_ = awaiting;
  switch (awaiting) {
    case awaiting::request: deadline_ = home().now() + limits_.idle_timeout; break;
    case awaiting::head: deadline_ = home().now() + limits_.head_timeout; break;
    case awaiting::body: deadline_ = home().now() + limits_.body_timeout; break;
    case awaiting::nothing:
    case awaiting::end: return;
  }
  // The timer stays armed and checks the deadline when it expires: rearming can cost more than a
  // request. It is rearmed only for an earlier deadline.
  const bool is_due_later = !armed() || deadline_ < deadline();
  if (awaiting == awaiting::request && is_due_later) home().arm(*this, deadline_);
}

// An answer that has begun is cut short: nothing may signal that it was complete.
void server_connection::dismiss() {
  if (stream_ && awaited_ == awaiting::request) {
    stream_->leave();
  } else if (stream_) {
    stream_->abort();
  }
}

void server_connection::on_timer() {
  const bool is_between = awaited_ == awaiting::request;
  if (is_between && is_retiring_ && stream_->unsent() != 0) {
    // The previous answer is being sent.
    home().arm_after(*this, look_interval);
  } else if (is_between && !is_retiring_ && home().now() < deadline_) {
    home().arm(*this, deadline_);
  } else if (awaited_ == awaiting::request || awaited_ == awaiting::end) {
    stream_->leave();
  }
}

}  // namespace strata::http
