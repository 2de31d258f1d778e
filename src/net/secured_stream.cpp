// The part of a stream that speaks TLS.
#include "net/secured_stream.hpp"

#include <cassert>
#include <chrono>

namespace strata::net {

namespace {

using namespace std::chrono_literals;

// A peer that does not take the alert in time does without.
constexpr auto longest_alert = 1s;
constexpr std::size_t longest_rest = 256U << 10U;

class session_sealer final : public sealer {
 public:
  explicit session_sealer(std::shared_ptr<tls_session> session) : by_(std::move(session)) {}

  loop::slice seal(std::span<const loop::slice> plain) override { return by_->seal(plain); }
  [[nodiscard]] bool owes() const override { return by_->owes(); }
  loop::slice seal_end() override { return by_->seal_end(); }

 private:
  std::shared_ptr<tls_session> by_;
};

}  // namespace

loop::task<result<void>> stream::start_tls(std::shared_ptr<const tls_context> context,
                                           std::string host, loop::time_point limit) {
  assert(!secured_ && out_.empty());
  const bool is_server = context->is_server();
  auto made = tls_session::make(std::move(context), host);
  if (!made) co_return std::unexpected(made.error());
  const std::shared_ptr<tls_session> session = std::move(*made);
  out_.seal_with(std::make_unique<session_sealer>(session));
  byte_span nothing;
  auto done = session->shake_hands(nothing);  // the client sends first
  while (done && !*done) {
    out_.send_owed();
    auto got = co_await receive(limit);
    if (!got) {
      done =
          failure(errc::timed_out, "agree on TLS", "the peer did not finish its handshake in time");
    } else if (!*got) {
      done = std::unexpected(got->error());
    } else if ((*got)->empty()) {
      done = failure(errc::connection_closed, "agree on TLS",
                     "the peer closed the connection during the handshake");
    } else {
      auto bytes = (*got)->bytes();
      done = session->shake_hands(bytes);
      // What follows the handshake is read as TLS data.
      if (done && *done) unread(std::move(**got).narrowed(bytes));
    }
  }
  out_.send_owed();
  if (!done) {
    const auto limit_of_alert = std::min(limit, home_.now() + longest_alert);
    (void)co_await out_.quiet(limit_of_alert);
    end();
    if (is_server) co_await receive_rest(limit_of_alert);
    co_return std::unexpected(done.error());
  }
  secured_ = std::make_unique<secured>();
  secured_->session = session;
  if (const auto& subject = session->info().peer_subject; !subject.empty()) {
    (void)peer();
    peer_->tls_subject = subject;
  }
  co_return result<void>{};
}

// Closing with unread data makes the kernel send a reset, which may overtake the alert.
loop::task<> stream::receive_rest(loop::time_point limit) {
  for (std::size_t received = 0; received < longest_rest;) {
    const auto got = co_await receive(limit);
    if (!got || !*got || (*got)->empty()) co_return;
    received += (*got)->bytes().size();
  }
}

const tls_info* stream::tls() const { return secured_ ? &secured_->session->info() : nullptr; }

void stream::open_arrived() {
  while (secured_->plain.empty() && !secured_->has_ended && !arrived_.empty()) open_first();
  out_.send_owed();
}

void stream::open_first() {
  auto& at = *secured_;
  auto sealed = take_first(arrived_);
  if (!sealed || sealed->empty()) {
    at.has_ended = true;
    const auto whole = sealed ? at.session->end_of_wire() : std::unexpected(sealed.error());
    if (!whole) at.failed = whole.error();
    return;
  }
  auto opened = at.session->open(sealed->bytes());
  at.failed = at.session->failed();
  at.has_ended = at.failed || at.session->peer_has_ended();
  if (opened.empty()) return;
  const auto size = static_cast<int>(opened.bytes().size());
  at.plain.push_back({size, std::move(opened), false});
}

result<loop::buffer> stream::take_plain() {
  if (!secured_->plain.empty() || !secured_->failed) return take_first(secured_->plain);
  return std::unexpected(*secured_->failed);
}

}  // namespace strata::net
