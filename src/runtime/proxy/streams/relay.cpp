#include "runtime/proxy/streams/relay.hpp"

#include <utility>

namespace strata::runtime::proxy {

namespace {

constexpr auto longest_delivery = std::chrono::seconds(1);

}  // namespace

relay::relay(const bond_means& means, relayed content, std::unique_ptr<net::byte_channel> client,
             std::unique_ptr<net::byte_channel> backend, std::size_t most, backend_use* use,
             net::joint::changer* changing)
    : bond(means),
      client_(std::move(client)),
      backend_(std::move(backend)),
      use_(use),
      content_(content),
      joint_(means.loop, *client_, *backend_,
             {.most_unsent = most, .observing = this, .changing = changing}) {}

void relay::on_bytes(bool from_client, byte_span bytes) {
  note_passed(from_client, tapped_form::bytes, bytes);
  if (!from_client && !std::exchange(has_received_, true) && use_ != nullptr) use_->note(true);
  (from_client ? counted().bytes_in : counted().bytes_out).add(bytes.size());
}

client_report relay::client() const {
  const auto& peer = client_->peer();
  const auto transport = client_->transport();
  const std::string_view websocket = transport == "tls" ? "wss" : "ws";
  return {.address = peer.address.text(),
          .protocol = content_ == relayed::websocket ? websocket : transport,
          .tls_subject = peer.tls_subject,
          .waiting = client_->unsent()};
}

std::string relay::backend() const {
  return use_ != nullptr ? std::string(use_->of()->is.text) : backend_->peer().address.text();
}

loop::task<> relay::run() {
  const auto breach = co_await joint_.run();
  const bool says_nothing = has_received_ || (breach && breach->is_of_first);
  if (use_ != nullptr && !says_nothing) use_->note(breach == nullptr);
  if (breach) co_await break_both(*breach);
}

// Data received before a side broke is delivered to the other; a reset would overtake it.
loop::task<> relay::break_both(const net::joint::breach& breach) {
  auto& other = breach.is_of_first ? *backend_ : *client_;
  const bool is_given_up = breach.why.code == errc::canceled;
  if (!is_given_up) {
    const bool has_all = co_await other.delivered(loop().now() + longest_delivery);
    (void)has_all;
  }
  client_->break_off();
  backend_->break_off();
}

}  // namespace strata::runtime::proxy
