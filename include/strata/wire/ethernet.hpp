// Ethernet frames (IEEE 802.3 §3, without preamble and FCS): a checked view over bytes, a plain
// value, and builders.
//
// Sans-I/O and total: no input causes reads out of bounds, exceptions or allocations beyond its own
// size. All sizes are in bytes and count from the destination address on; the kernel adds the FCS.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "strata/base/bytes.hpp"
#include "strata/base/mac_address.hpp"
#include "strata/base/result.hpp"
#include "strata/wire/vlan.hpp"

namespace strata::wire {

inline constexpr std::size_t ethernet_header_size = 14;
/// The smallest frame: the builders pad shorter frames (runts) with zeros.
inline constexpr std::size_t min_frame_size = 60;
inline constexpr std::size_t default_mtu = 1500;
inline constexpr std::size_t jumbo_mtu = 9000;
/// The largest MTU of lo and veth.
inline constexpr std::size_t max_mtu = 65535;

/// A type field up to this value is the length of an 802.3 frame; from 0x0600 on it is an
/// EtherType.
inline constexpr std::uint16_t max_length_field = 1500;
inline constexpr std::uint16_t min_ethertype = 0x0600;

inline constexpr std::uint16_t ethertype_ipv4 = 0x0800;
inline constexpr std::uint16_t ethertype_arp = 0x0806;
inline constexpr std::uint16_t ethertype_ipv6 = 0x86DD;
inline constexpr std::uint16_t ethertype_lldp = 0x88CC;
inline constexpr std::uint16_t ethertype_ipc = 0xAAAA;
/// IEEE 802 local experimental 1: for private protocols.
inline constexpr std::uint16_t ethertype_experimental = 0x88B5;

/// The header of an 802.2 frame, behind an 802.3 length.
struct llc_header {
  std::uint8_t dsap = 0;
  std::uint8_t ssap = 0;
  std::uint8_t control = 0;

  constexpr auto operator<=>(const llc_header&) const = default;
};

/// A view of a frame in place; valid as long as its bytes.
class ethernet_view {
 public:
  /// Returns nullopt if `frame` ends within its addresses, tags or type.
  [[nodiscard]] static std::optional<ethernet_view> parse(byte_span frame);

  [[nodiscard]] mac_address destination() const {
    return mac_address(frame_.first<mac_address::size>());
  }
  [[nodiscard]] mac_address source() const {
    return mac_address(frame_.subspan<mac_address::size, mac_address::size>());
  }
  /// Outermost first.
  [[nodiscard]] std::span<const vlan_tag> tags() const { return {tags_.data(), tag_count_}; }
  /// The field behind all tags as is: an EtherType or a length.
  [[nodiscard]] std::uint16_t type_field() const { return type_; }
  /// nullopt for an 802.3 frame, and for a field that is neither (1501 to 1535).
  [[nodiscard]] std::optional<std::uint16_t> ethertype() const;
  /// The 802.3 length, in bytes of payload; nullopt for a frame with an EtherType.
  [[nodiscard]] std::optional<std::size_t> length() const;
  /// The 802.2 header of an 802.3 frame whose payload holds it; otherwise nullopt.
  [[nodiscard]] std::optional<llc_header> llc() const;

  [[nodiscard]] std::size_t header_size() const {
    return ethernet_header_size + tag_count_ * vlan_tag_size;
  }
  /// All bytes behind the header; for an 802.3 frame, without the padding behind its length.
  [[nodiscard]] byte_span payload() const;
  /// The payload without its trailing zeros if the frame has the minimum size and so may have been
  /// padded: a sender's text. A message that may end in zeros needs a length of its own.
  [[nodiscard]] byte_span message() const;
  /// The number of bytes that the 802.3 length announces but the frame lacks.
  [[nodiscard]] std::size_t missing() const;
  [[nodiscard]] byte_span bytes() const { return frame_; }

 private:
  ethernet_view() = default;

  byte_span frame_;
  std::array<vlan_tag, max_vlan_tags> tags_{};
  std::size_t tag_count_ = 0;
  std::uint16_t type_ = 0;
};

/// A frame as a value: one to build, or a copy of a received frame.
struct ethernet {
  mac_address destination;
  mac_address source;
  std::vector<vlan_tag> tags;  ///< outermost first, at most `max_vlan_tags`
  /// An EtherType, or nullopt for an 802.3 frame, whose length field is computed from the payload.
  std::optional<std::uint16_t> ethertype;
  std::vector<std::byte> payload;

  [[nodiscard]] static ethernet copy_of(const ethernet_view& view);
  [[nodiscard]] result<std::vector<std::byte>> build(std::size_t mtu = default_mtu) const;
  bool operator==(const ethernet&) const = default;
};

/// The header of frames to build. The memory of the tags stays with the caller.
struct frame_header {
  mac_address destination;
  mac_address source;
  std::span<const vlan_tag> tags;
  std::optional<std::uint16_t> ethertype;  ///< as in `ethernet`
};

/// Returns the size of a frame with a payload of `payload_size` bytes, padding included.
[[nodiscard]] constexpr std::size_t frame_size(std::size_t tag_count, std::size_t payload_size) {
  const auto size = ethernet_header_size + tag_count * vlan_tag_size + payload_size;
  return size < min_frame_size ? min_frame_size : size;
}

/// Writes the frame to the front of `memory` and returns its size. Allocates nothing on success.
/// The payload has at most `mtu` bytes; tags do not count. Errors: limit_exceeded if the payload
/// exceeds the MTU or the frame exceeds `memory`; invalid_argument for an impossible tag, number of
/// tags or EtherType (below 0x0600).
[[nodiscard]] result<std::size_t> build_frame_into(mutable_byte_span memory,
                                                   const frame_header& header, byte_span payload,
                                                   std::size_t mtu = default_mtu);

[[nodiscard]] result<std::size_t> build_simple_frame_into(
    mutable_byte_span memory, const mac_address& destination, const mac_address& source,
    std::uint16_t ethertype, byte_span payload, std::size_t mtu = default_mtu);

[[nodiscard]] result<std::size_t> build_vlan_frame_into(
    mutable_byte_span memory, const mac_address& destination, const mac_address& source,
    const vlan_tci& tci, std::uint16_t inner_ethertype, byte_span payload,
    std::size_t mtu = default_mtu);

/// As the `_into` forms, but allocates the frame.
[[nodiscard]] result<std::vector<std::byte>> build_simple_frame(const mac_address& destination,
                                                                const mac_address& source,
                                                                std::uint16_t ethertype,
                                                                byte_span payload,
                                                                std::size_t mtu = default_mtu);

[[nodiscard]] result<std::vector<std::byte>> build_vlan_frame(
    const mac_address& destination, const mac_address& source, const vlan_tci& tci,
    std::uint16_t inner_ethertype, byte_span payload, std::size_t mtu = default_mtu);

/// As above, with a text as the payload.
template <std::convertible_to<std::string_view> Text>
[[nodiscard]] result<std::vector<std::byte>> build_simple_frame(const mac_address& destination,
                                                                const mac_address& source,
                                                                std::uint16_t ethertype,
                                                                const Text& text,
                                                                std::size_t mtu = default_mtu) {
  return build_simple_frame(destination, source, ethertype, as_bytes(text), mtu);
}
/// As above, with a text as the payload.
template <std::convertible_to<std::string_view> Text>
[[nodiscard]] result<std::vector<std::byte>> build_vlan_frame(
    const mac_address& destination, const mac_address& source, const vlan_tci& tci,
    std::uint16_t inner_ethertype, const Text& text, std::size_t mtu = default_mtu) {
  return build_vlan_frame(destination, source, tci, inner_ethertype, as_bytes(text), mtu);
}

}  // namespace strata::wire
