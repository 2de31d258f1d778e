// Messages over a broker's channel about AF_XDP sockets. Any change of a message requires a new
// broker::kind.
#pragma once

#include <array>
#include <cstdint>

#include "strata/xdp/broker.hpp"

namespace strata::xdp {

struct request_message {
  broker::name interface_name{};
  std::uint32_t queue = 0;
  std::int32_t ethertype = -1;
  std::int32_t vlan_id = -1;
  std::int32_t udp_port = -1;
  std::uint32_t has_destination = 0;
  std::array<std::uint8_t, 6> destination{};
  std::uint8_t attach = 0;
  std::uint8_t mode = 0;
  std::uint32_t frame_count = 0;
  std::uint32_t frame_size = 0;
  std::uint32_t headroom = 0;
  std::uint8_t unaligned = 0;
  std::uint8_t need_wakeup = 0;
  std::uint8_t multi_buffer = 0;
  std::uint8_t has_busy_poll = 0;
  std::uint32_t busy_poll_us = 0;
  std::uint32_t busy_poll_budget = 0;
  std::uint32_t receive_size = 0;
  std::uint32_t transmit_size = 0;
  std::uint32_t fill_size = 0;
  std::uint32_t completion_size = 0;
};

/// Sent together with the descriptors of the socket and of the UMEM's memory.
struct grant_message {
  std::int32_t interface_index = 0;
  std::uint8_t is_zerocopy = 0;
  std::uint8_t is_native = 0;
};

[[nodiscard]] request_message to_message(const broker_request& request);

}  // namespace strata::xdp
