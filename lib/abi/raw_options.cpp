#include "abi/raw_options.hpp"

#include <algorithm>

#include "abi/options.hpp"

namespace strata::abi {

l2::raw_socket_options options_of(const strata_raw_socket_options* given) {
  const auto from = known(given, strata_raw_socket_defaults);
  l2::raw_socket_options options;
  if (from.ethertype >= 0) options.filter.ethertype = static_cast<std::uint16_t>(from.ethertype);
  if (from.vlan_id >= 0) options.filter.vlan_id = static_cast<std::uint16_t>(from.vlan_id);
  options.receives = from.send_only == 0;
  options.ignore_outgoing = from.hear_outgoing == 0;
  options.promiscuous = from.promiscuous != 0;
  options.qdisc_bypass = from.qdisc_bypass != 0;
  if (from.timestamps != 0) options.timestamps = l2::timestamping::software;
  if (from.fanout_group >= 0) {
    const auto last = static_cast<std::uint8_t>(l2::fanout::mode::queue);
    options.share = {.group = static_cast<std::uint16_t>(from.fanout_group),
                     .how = static_cast<l2::fanout::mode>(std::min(from.fanout_mode, last))};
  }
  if (from.priority >= 0) options.priority = from.priority;
  if (from.receive_buffer != 0) options.receive_buffer = from.receive_buffer;
  if (from.send_buffer != 0) options.send_buffer = from.send_buffer;
  for (std::size_t i = 0; from.multicast != nullptr && i < from.multicast_count; ++i) {
    const std::span<const std::uint8_t, mac_address::size> octets(
        from.multicast + i * mac_address::size, mac_address::size);
    options.multicast.emplace_back(std::as_bytes(octets));
  }
  return options;
}

void copy_mac(const mac_address& address, std::uint8_t* bytes) {
  std::ranges::copy(address.octets(), bytes);
}

strata_received received_of(const l2::received_frame& frame) {
  return {frame.bytes.data(), frame.bytes.size(), frame.wire_size, frame.time_ns};
}

batch_of::batch_of(const iovec* frames, std::size_t count)
    : count_(std::min(count, spans_.size())) {
  for (std::size_t i = 0; i < count_; ++i) {
    spans_[i] = {static_cast<const std::byte*>(frames[i].iov_base), frames[i].iov_len};
  }
}

}  // namespace strata::abi
