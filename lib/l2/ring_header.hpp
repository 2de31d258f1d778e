// The kernel's description of a frame in a ring: the same fields in TPACKET_V2 and V3.
#pragma once

#include <linux/if_packet.h>

#include <atomic>
#include <cstdint>

#include "l2/packet_socket.hpp"

namespace strata::l2 {

/// Marks a slot or block that a reader holds: a bit of its status that the kernel does not use.
constexpr std::uint32_t status_held = 1U << 24U;

/// Marks a slot or block from the kernel as held. Returns false if it is the kernel's, or already
/// held.
template <class Word>
[[nodiscard]] bool take_from_kernel(Word& status) {
  const std::atomic_ref word(status);
  const auto now = word.load(std::memory_order_acquire);
  if ((now & TP_STATUS_USER) == 0 || (now & status_held) != 0) return false;
  word.store(now | status_held, std::memory_order_relaxed);
  return true;
}

/// Returns the frame whose header (tpacket2_hdr or tpacket3_hdr) begins at `bytes`, and restores
/// the tag that the kernel removed, which is `tpid` and `tci` of that header.
template <class Header>
[[nodiscard]] received_frame read_ring_frame(std::byte* bytes, std::uint16_t tpid,
                                             std::uint32_t tci) {
  const auto& header = *reinterpret_cast<const Header*>(bytes);
  std::byte* const first = bytes + header.tp_mac;
  const auto* const address =
      reinterpret_cast<const sockaddr_ll*>(bytes + TPACKET_ALIGN(sizeof(Header)));
  received_frame frame{.bytes = {first, header.tp_snaplen},
                       .wire_size = header.tp_len,
                       .type = packet_type_of(address->sll_pkttype),
                       .time_ns = std::uint64_t{header.tp_sec} * 1'000'000'000U + header.tp_nsec,
                       .is_card_time = (header.tp_status & TP_STATUS_TS_RAW_HARDWARE) != 0};
  if ((header.tp_status & TP_STATUS_VLAN_VALID) == 0) return frame;
  const bool has_tpid = (header.tp_status & TP_STATUS_VLAN_TPID_VALID) != 0;
  restore_tag(frame, first,
              {has_tpid ? tpid : wire::tpid_customer,
               wire::vlan_tci::decode(static_cast<std::uint16_t>(tci))});
  return frame;
}

}  // namespace strata::l2
