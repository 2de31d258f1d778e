#include "runtime/proxy/streams/relay.hpp"

#include <utility>

namespace strata::runtime::proxy {

namespace {

constexpr auto longest_delivery = std::chrono::seconds(1);

}  // namespace

relay::relay(loop::loop& loop, std::unique_ptr<net::byte_channel> client,
             std::unique_ptr<net::byte_channel> backend, std::size_t most, counters& counted,
             backend_use* use, net::joint::changer* changing)
    : bond(loop),
      client_(std::move(client)),
      backend_(std::move(backend)),
      counted_(counted),
      use_(use),
      joint_(loop, *client_, *backend_,
             {.most_unsent = most,
              .on_bytes =
                  [this](bool from_client, std::size_t count) {
                    note_active();
                    if (!from_client && !std::exchange(has_heard_, true) && use_ != nullptr) {
                      use_->note(true);
                    }
                    (from_client ? counted_.bytes_in : counted_.bytes_out).add(count);
                  },
              .changing = changing}) {}

loop::task<> relay::run() {
  const auto breach = co_await joint_.run();
  const bool says_nothing = has_heard_ || (breach && breach->is_of_first);
  if (use_ != nullptr && !says_nothing) use_->note(breach == nullptr);
  if (breach) co_await break_both(*breach);
}

// Data received before a side broke is delivered to the other; a reset would overtake it.
loop::task<> relay::break_both(const net::joint::breach& breach) {
  auto& other = breach.is_of_first ? *backend_ : *client_;
  const bool is_given_up = breach.why.code == errc::canceled;
  if (!is_given_up) {
    const bool has_all = co_await other.delivered(loop_.now() + longest_delivery);
    (void)has_all;
  }
  client_->break_off();
  backend_->break_off();
}

}  // namespace strata::runtime::proxy
