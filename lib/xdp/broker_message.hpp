// What goes between a broker and its clients, which are processes of one machine: structures as
// they lie in memory, each in one packet of a SOCK_SEQPACKET connection.
#pragma once

#include <array>
#include <cstdint>

#include "strata/xdp/broker.hpp"

namespace strata::xdp {

struct request_message {
  static constexpr std::uint32_t right_version = 0x58440001;

  std::uint32_t version = right_version;
  std::array<char, 16> interface_name{};
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

/// Two descriptors come with a `code` of 0: the socket and the UMEM's memory.
struct reply_message {
  std::int32_t code = 0;  ///< an errc, less than 0 when it went well
  std::int32_t sys_errno = 0;
  std::int32_t interface_index = 0;
  std::uint8_t is_zerocopy = 0;
  std::uint8_t is_native = 0;
  std::array<char, 1024> text{};  ///< what went wrong
};

[[nodiscard]] request_message to_message(const broker_request& what);
/// Errors: malformed.
[[nodiscard]] result<broker_request> from_message(const request_message& message);

}  // namespace strata::xdp
