#include "runtime/proxy/relay.hpp"

#include <utility>

namespace strata::runtime::proxy {

namespace {

constexpr auto longest_delivery = std::chrono::seconds(1);

}  // namespace

relay::relay(loop::loop& on, std::unique_ptr<net::byte_channel> client,
             std::unique_ptr<net::byte_channel> back, std::size_t most, counters& counted,
             std::function<void(bool)> on_outcome)
    : bond(on),
      client_(std::move(client)),
      back_(std::move(back)),
      counted_(counted),
      on_outcome_(std::move(on_outcome)),
      joint_(on, *client_, *back_,
             {.most_unsent = most, .on_bytes = [this](bool from_client, std::size_t count) {
                note_active();
                if (!from_client && !std::exchange(has_heard_, true) && on_outcome_) {
                  on_outcome_(true);
                }
                (from_client ? counted_.bytes_in : counted_.bytes_out).add(count);
              }}) {}

loop::task<> relay::run() {
  const auto breach = co_await joint_.run();
  if (on_outcome_ && !has_heard_ && !(breach && breach->is_of_first)) on_outcome_(!breach);
  if (!breach) co_return;
  // What came before a side broke is for the other one; a reset would overtake it.
  auto& other = breach->is_of_first ? *back_ : *client_;
  const bool is_given_up = breach->why.code == errc::canceled;
  if (!is_given_up) {
    const bool has_all = co_await other.delivered(loop_.now() + longest_delivery);
    (void)has_all;
  }
  client_->break_off();
  back_->break_off();
}

}  // namespace strata::runtime::proxy
