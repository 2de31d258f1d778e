#include "serve/acceptor.hpp"

#include <algorithm>

#include "loop/descriptor_reserve.hpp"
#include "net/introduction.hpp"

namespace strata::serve {

using namespace std::chrono_literals;

namespace {

// Clients above the limit that are sent the reason at a time; in a flood, the others are only
// closed.
constexpr std::size_t most_refusing = 64;
constexpr auto longest_refusal = 1s;
constexpr auto pause_in_trouble = 100ms;
constexpr loop::duration usual_handshake_limit = 10s;
// Anyone can make handshakes fail, and must not fill the log.
constexpr auto log_interval = 10s;

// Ends a connection at a point in time.
class ending final : public loop::timer {
 public:
  explicit ending(net::stream& stream) : of_(stream) {}

 private:
  void on_timer() override { of_.abort(); }

  net::stream& of_;
};

}  // namespace

acceptor::~acceptor() {
  listening_.cancel();
  serving_.cancel();
}

void acceptor::begin() {
  for (const auto& each : listeners_) listening_.spawn(accept_all(each));
}

void acceptor::stop_listening() {
  listening_.cancel();
  listeners_.clear();
}

loop::task<> acceptor::finish_listening() {
  for (const auto& each : listeners_) each.listener->finish();
  co_await listening_.drained();
  listeners_.clear();
}

loop::task<> acceptor::accept_all(const guarded_listener& source) {
  bool failing = false;
  for (;;) {
    auto connection = co_await source.listener->accept();
    if (connection && !settings_.is_for_operator &&
        connection->fd() >= loop::first_kept_descriptor()) {
      settings_.on_refused(loop_.remote_address(*connection),
                           "no descriptors are left for clients");
      settings_.on_trouble(loop::no_descriptor_left("accept more connections"),
                           !std::exchange(failing, true));
      continue;
    }
    if (connection) {
      failing = false;
      if (settings_.admits && !settings_.admits(*connection, source.tag)) continue;
      receive(source, net::stream::over(loop_, std::move(*connection)));
      continue;
    }
    if (source.listener->is_finished()) co_return;
    // No descriptor or memory is left: further clients stay in the kernel's queue meanwhile.
    settings_.on_trouble(connection.error(), !std::exchange(failing, true));
    co_await loop_.sleep(pause_in_trouble);
  }
}

void acceptor::receive(const guarded_listener& source, std::unique_ptr<net::stream> arrived) {
  const bool is_introduced = settings_.introduces && settings_.introduces(*arrived);
  if (!is_introduced && settings_.objection) {
    auto words = settings_.objection(*arrived);
    if (!words.empty()) return turn_away(std::move(arrived), words, source.secure ? "" : words);
  }
  if (auto place = settings_.connections.enter(settings_.most())) {
    if (source.secure || is_introduced) {
      serving_.spawn(begin_with(std::move(arrived), std::move(place),
                                {source.tag, is_introduced, source.secure}));
    } else {
      serving_.spawn(settings_.serve(std::move(arrived), std::move(place), source.tag));
    }
    return;
  }
  turn_away(std::move(arrived), "", source.secure ? "" : settings_.refusal);
}

// A TLS client understands no text before the handshake: `words` is empty then.
void acceptor::turn_away(std::unique_ptr<net::stream> arrived, std::string_view objection,
                         std::string words) {
  settings_.on_refused(arrived->peer().address, objection);
  if (!words.empty() && refusing_ < most_refusing) {
    serving_.spawn(refuse(std::move(arrived), std::move(words)));
  }
}

loop::task<> acceptor::begin_with(std::unique_ptr<net::stream> arrived,
                                  connection_gauge::place place, beginning first) {
  if (first.is_introduced) {
    const bool is_known = co_await receive_introduction(*arrived);
    if (!is_known) co_return;
    const auto words = settings_.objection ? settings_.objection(*arrived) : "";
    if (!words.empty()) co_return turn_away(std::move(arrived), words, first.secure ? "" : words);
  }
  if (first.secure) {
    const bool agreed = co_await start_tls(*arrived, first.secure->get());
    if (!agreed) co_return;
  }
  auto served = settings_.serve(std::move(arrived), std::move(place), first.tag);
  co_await served;
}

loop::task<bool> acceptor::receive_introduction(net::stream& stream) {
  (void)stream.peer();  // queried while it is connected
  auto received = co_await net::await_introduction(stream, handshake_limit());
  if (!received) report_failed(stream, std::move(received.error()));
  co_return received.has_value();
}

loop::time_point acceptor::handshake_limit() const {
  const auto longest =
      settings_.handshake_limit ? settings_.handshake_limit() : usual_handshake_limit;
  return longest == loop::duration::zero() ? loop::time_point::max() : loop_.now() + longest;
}

loop::task<bool> acceptor::start_tls(net::stream& stream,
                                     std::shared_ptr<const net::tls_context> context) {
  (void)stream.peer();  // queried while it is connected
  result<void> agreed = failure(errc::conflict, "agree on TLS", "no certificate is loaded");
  if (context) agreed = co_await stream.start_tls(std::move(context), {}, handshake_limit());
  if (!agreed) {
    report_failed(stream, std::move(agreed.error()));
  } else if (settings_.on_secured) {
    settings_.on_secured(stream);
  }
  co_return agreed.has_value();
}

void acceptor::report_failed(const net::stream& stream, error why) {
  if (!settings_.on_handshake_failed) return;
  const bool is_logged = loop_.now() - last_logged_ >= log_interval;
  if (!is_logged) {
    ++failed_unlogged_;
  } else {
    last_logged_ = loop_.now();
    why.operation += " with " + stream.peer().address.text();
    if (const auto others = std::exchange(failed_unlogged_, 0); others != 0) {
      why.reason += " (as for " + std::to_string(others) + " others since the previous report)";
    }
  }
  settings_.on_handshake_failed(why, is_logged);
}

// Data from the client is read meanwhile: closing with unread data makes the kernel send a reset,
// which may overtake the words.
loop::task<> acceptor::refuse(std::unique_ptr<net::stream> arrived, std::string words) {
  ++refusing_;
  ending limit(*arrived);
  loop_.arm_after(limit, longest_refusal);
  arrived->push_copy(as_bytes(words));
  arrived->end();
  for (;;) {
    const auto said = co_await arrived->receive();
    if (!said || said->empty()) break;
  }
  --refusing_;
}

}  // namespace strata::serve
