#include "measure/node/foreign_traffic.hpp"

#include <algorithm>

#include "strata/wire/ethernet.hpp"

namespace strata::measure {

namespace {

// IEEE 802 local experimental 2; the measured frames use 1.
constexpr std::uint16_t ethertype = 0x88B6;

}  // namespace

result<foreign_traffic> foreign_traffic::open(const end_options& options, double rate) {
  auto socket = l2::raw_socket::create_bound(options.interface, {.receives = false});
  if (!socket) return std::unexpected(socket.error());
  auto frame = wire::build_simple_frame(options.peer_mac, socket->link().mac, ethertype,
                                        as_bytes("nobody asked for this"));
  if (!frame) return std::unexpected(frame.error());
  return foreign_traffic(std::move(*socket), std::move(*frame), rate);
}

result<void> foreign_traffic::send_due(std::uint64_t passed_ns) {
  const auto due = static_cast<std::uint64_t>(static_cast<double>(passed_ns) * rate_ / 1e9);
  if (due <= sent_) return {};
  std::array<byte_span, l2::raw_socket::max_batch> frames;
  const auto count = std::min<std::uint64_t>(due - sent_, frames.size());
  std::fill_n(frames.begin(), count, byte_span(frame_));
  const auto taken = socket_.try_send(std::span(frames).first(count));
  if (!taken) return std::unexpected(taken.error());
  sent_ += *taken;
  return {};
}

}  // namespace strata::measure
