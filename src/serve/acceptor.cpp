#include "serve/acceptor.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <climits>

namespace strata::serve {

using namespace std::chrono_literals;

namespace {

// Clients above the limit that are told so at a time; of a flood, the others are just closed.
constexpr std::size_t most_refusing = 64;
constexpr auto longest_refusal = 1s;
constexpr auto pause_in_trouble = 100ms;
constexpr loop::duration usual_handshake_limit = 10s;
// Anybody can make handshakes fail, and is not to fill the log.
constexpr auto between_tellings = 10s;

// The kernel gives the least number that is free: one from here on says that few are left.
int first_kept_back() {
  static const int first = [] {
    constexpr rlim_t most = 64;
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur > INT_MAX) return INT_MAX;
    return static_cast<int>(limit.rlim_cur - std::min(most, limit.rlim_cur / 4));
  }();
  return first;
}

// Ends a connection at a point in time.
class ending final : public loop::timer {
 public:
  explicit ending(net::stream& of) : of_(of) {}

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

loop::task<> acceptor::accept_all(const entrance& at) {
  bool failing = false;
  for (;;) {
    auto connection = co_await at.from->accept();
    if (connection && !how_.is_for_operator && connection->fd() >= first_kept_back()) {
      how_.on_refused();
      how_.on_trouble(error{.code = errc::limit_exceeded,
                            .operation = "accept more connections",
                            .reason = "the last descriptors are kept for the operator",
                            .remedy = "raise the limit of open files (ulimit -n, LimitNOFILE= of a "
                                      "systemd unit), or set --max-connections",
                            .offset = {}},
                      !std::exchange(failing, true));
      continue;
    }
    if (connection) {
      failing = false;
      if (how_.admits && !how_.admits(*connection)) continue;
      receive(at, net::stream::over(loop_, std::move(*connection)));
      continue;
    }
    // No descriptor or memory is left: those who wait stay in the kernel's queue meanwhile.
    how_.on_trouble(connection.error(), !std::exchange(failing, true));
    co_await loop_.sleep(pause_in_trouble);
  }
}

void acceptor::receive(const entrance& at, std::unique_ptr<net::stream> arrived) {
  if (how_.objection) {
    auto words = how_.objection(*arrived);
    if (!words.empty()) return turn_away(at, std::move(arrived), std::move(words));
  }
  if (auto place = how_.connections.enter(how_.most())) {
    if (at.secure) {
      serving_.spawn(secure(std::move(arrived), std::move(place), at.door, at.secure->get()));
    } else {
      serving_.spawn(how_.serve(std::move(arrived), std::move(place), at.door));
    }
    return;
  }
  turn_away(at, std::move(arrived), how_.refusal);
}

void acceptor::turn_away(const entrance& at, std::unique_ptr<net::stream> arrived,
                         std::string words) {
  how_.on_refused();
  // Of TLS, no word is understood before the handshake.
  if (!at.secure && !words.empty() && refusing_ < most_refusing) {
    serving_.spawn(refuse(std::move(arrived), std::move(words)));
  }
}

loop::task<> acceptor::secure(std::unique_ptr<net::stream> arrived, connection_gauge::place place,
                              unsigned door, std::shared_ptr<const net::tls_context> with) {
  const bool agreed = co_await start_tls(*arrived, std::move(with));
  if (!agreed) co_return;
  auto served = how_.serve(std::move(arrived), std::move(place), door);
  co_await served;
}

loop::task<bool> acceptor::start_tls(net::stream& on,
                                     std::shared_ptr<const net::tls_context> with) {
  const auto longest = how_.handshake_limit ? how_.handshake_limit() : usual_handshake_limit;
  (void)on.peer();  // while it is connected
  result<void> agreed = failure(errc::conflict, "agree on TLS", "there is no certificate");
  if (with) {
    const auto limit =
        longest == loop::duration::zero() ? loop::time_point::max() : loop_.now() + longest;
    agreed = co_await on.start_tls(std::move(with), {}, limit);
  }
  if (!agreed) {
    tell_failed(on, std::move(agreed.error()));
  } else if (how_.on_secured) {
    how_.on_secured(on);
  }
  co_return agreed.has_value();
}

void acceptor::tell_failed(const net::stream& on, error why) {
  if (!how_.on_handshake_failed) return;
  const bool is_told = loop_.now() - last_told_ >= between_tellings;
  if (!is_told) {
    ++failed_untold_;
  } else {
    last_told_ = loop_.now();
    why.operation += " with " + on.peer().address.text();
    if (const auto others = std::exchange(failed_untold_, 0); others != 0) {
      why.reason += " (as for " + std::to_string(others) + " others since the last such line)";
    }
  }
  how_.on_handshake_failed(why, is_told);
}

// What it says meanwhile is read: closing while something is unread makes the kernel send a reset,
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
