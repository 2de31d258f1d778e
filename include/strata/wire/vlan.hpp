// VLAN tags: the tag control information of IEEE 802.1Q and the tags around it.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "strata/base/bytes.hpp"
#include "strata/base/mac_address.hpp"
#include "strata/base/result.hpp"

namespace strata::wire {

/// Tag protocol identifiers: a customer tag (802.1Q) and a service tag (802.1ad, the outer tag of
/// QinQ).
inline constexpr std::uint16_t tpid_customer = 0x8100;
inline constexpr std::uint16_t tpid_service = 0x88A8;

/// The bytes of destination and source, behind which the tags lie.
inline constexpr std::size_t mac_addresses_size = 2 * mac_address::size;
/// Size of one tag (TPID and TCI) in a frame, in bytes.
inline constexpr std::size_t vlan_tag_size = 4;
/// The highest VID: 4095 is reserved (IEEE 802.1Q, table 9-2).
inline constexpr std::uint16_t max_vlan_id = 4094;
/// The most tags that are parsed; deeper tags count as payload.
inline constexpr std::size_t max_vlan_tags = 4;

/// Reports whether `type`, in place of an EtherType, begins a VLAN tag.
[[nodiscard]] constexpr bool is_tpid(std::uint16_t type) {
  return type == tpid_customer || type == tpid_service;
}

/// Tag control information: PCP, DEI and VID in the standard's terms.
struct vlan_tci {
  std::uint8_t priority = 0;  ///< PCP, 0 to 7
  bool dei = false;           ///< drop eligible
  std::uint16_t vlan_id = 0;  ///< VID, 0 to 4094; 0 carries only a priority; 4095 is reserved

  [[nodiscard]] static constexpr vlan_tci decode(std::uint16_t raw) {
    return {.priority = static_cast<std::uint8_t>(raw >> 13U),
            .dei = (raw & 0x1000U) != 0,
            .vlan_id = static_cast<std::uint16_t>(raw & 0x0FFFU)};
  }
  /// Truncates values that are out of range: call `check()` first.
  [[nodiscard]] constexpr std::uint16_t encode() const {
    return static_cast<std::uint16_t>((priority & 7U) << 13U | (dei ? 0x1000U : 0U) |
                                      (vlan_id & 0x0FFFU));
  }
  /// Errors: invalid_argument if the priority is above 7 or the VID above 4094.
  [[nodiscard]] result<void> check() const;

  constexpr auto operator<=>(const vlan_tci&) const = default;
};

struct vlan_tag {
  std::uint16_t tpid = tpid_customer;
  vlan_tci tci;

  constexpr auto operator<=>(const vlan_tag&) const = default;
};

/// Returns the outermost tag of a whole frame, if there is one.
[[nodiscard]] std::optional<vlan_tag> outer_tag(byte_span frame);

/// Removes the outermost tag from the frame that begins at `frame[0]`, by moving its addresses
/// towards the end, and returns the frame, which is then `frame.subspan(4)`. Without a tag, returns
/// `frame` itself. Touches 16 bytes, allocates nothing.
[[nodiscard]] mutable_byte_span strip_tag(mutable_byte_span frame);

/// Inserts `tag` as the outermost one. `memory` begins with four free bytes, followed by the frame;
/// the tagged frame is all of `memory`. The tag is not checked, so that a received tag stays as it
/// is. Errors: invalid_argument if `memory` holds no whole Ethernet header.
[[nodiscard]] result<void> insert_tag(mutable_byte_span memory, const vlan_tag& tag);

}  // namespace strata::wire
