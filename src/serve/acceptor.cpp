#include "serve/acceptor.hpp"

namespace strata::serve {

using namespace std::chrono_literals;

namespace {

// Clients above the limit that are told so at a time; of a flood, the others are just closed.
constexpr std::size_t most_refusing = 64;
constexpr auto longest_refusal = 1s;
constexpr auto pause_in_trouble = 100ms;

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

loop::task<> acceptor::accept_all(const entrance& from) {
  bool failing = false;
  for (;;) {
    auto connection = co_await from.listening->accept();
    if (connection) {
      failing = false;
      if (how_.admits && !how_.admits(*connection)) continue;
      receive(net::stream::over(loop_, std::move(*connection)), from.door);
      continue;
    }
    // No descriptor or memory is left: those who wait stay in the kernel's queue meanwhile.
    how_.on_trouble(connection.error(), !std::exchange(failing, true));
    co_await loop_.sleep(pause_in_trouble);
  }
}

void acceptor::receive(std::unique_ptr<net::stream> arrived, unsigned door) {
  if (auto place = how_.connections.enter(how_.most())) {
    serving_.spawn(how_.serve(std::move(arrived), std::move(place), door));
    return;
  }
  how_.on_refused();
  if (!how_.refusal.empty() && refusing_ < most_refusing) {
    serving_.spawn(refuse(std::move(arrived)));
  }
}

// What it says meanwhile is read: closing while something is unread makes the kernel send a reset,
// which may overtake the words.
loop::task<> acceptor::refuse(std::unique_ptr<net::stream> arrived) {
  ++refusing_;
  ending limit(*arrived);
  loop_.arm_after(limit, longest_refusal);
  arrived->push_copy(as_bytes(how_.refusal));
  arrived->end();
  for (;;) {
    const auto said = co_await arrived->receive();
    if (!said || said->empty()) break;
  }
  --refusing_;
}

}  // namespace strata::serve
