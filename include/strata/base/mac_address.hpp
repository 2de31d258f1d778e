// A 48-bit MAC address (IEEE 802: EUI-48). A plain value, comparable and hashable.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "strata/base/result.hpp"

namespace strata {

class mac_address {
 public:
  static constexpr std::size_t size = 6;

  /// 00:00:00:00:00:00.
  constexpr mac_address() = default;
  constexpr explicit mac_address(const std::array<std::uint8_t, size>& octets) : octets_(octets) {}
  /// Takes the first six bytes, in network order.
  explicit mac_address(std::span<const std::byte, size> bytes);

  /// Parses "aa:bb:cc:dd:ee:ff" or "aa-bb-…", either letter case, with one kind of separator.
  /// Errors: invalid_argument, naming `text`.
  [[nodiscard]] static result<mac_address> from_text(std::string_view text);
  [[nodiscard]] static constexpr mac_address broadcast() {
    return mac_address({0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF});
  }

  [[nodiscard]] constexpr const std::array<std::uint8_t, size>& octets() const { return octets_; }
  [[nodiscard]] std::span<const std::byte, size> bytes() const {
    return std::as_bytes(std::span<const std::uint8_t, size>(octets_));
  }
  /// Lower case, colons.
  [[nodiscard]] std::string text() const;

  [[nodiscard]] constexpr bool is_zero() const { return *this == mac_address{}; }
  [[nodiscard]] constexpr bool is_broadcast() const { return *this == broadcast(); }
  /// Reports whether the group bit (I/G) is set: multicast, or broadcast.
  [[nodiscard]] constexpr bool is_multicast() const { return (octets_[0] & 0x01U) != 0; }
  /// Reports whether the U/L bit is set: assigned by software, not by a manufacturer.
  [[nodiscard]] constexpr bool is_local() const { return (octets_[0] & 0x02U) != 0; }

  constexpr auto operator<=>(const mac_address&) const = default;

 private:
  std::array<std::uint8_t, size> octets_{};
};

}  // namespace strata

template <>
struct std::hash<strata::mac_address> {
  std::size_t operator()(const strata::mac_address& address) const noexcept {
    std::uint64_t value = 0;
    for (const auto octet : address.octets()) value = value << 8U | octet;
    return static_cast<std::size_t>((value * 0x9E3779B97F4A7C15ULL) >> 16U);
  }
};
