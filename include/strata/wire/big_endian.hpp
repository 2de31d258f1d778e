// Numbers in network order, read and written at any alignment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace strata::wire {

[[nodiscard]] constexpr std::uint16_t read_u16(std::span<const std::byte, 2> from) {
  return static_cast<std::uint16_t>(std::to_integer<unsigned>(from[0]) << 8U |
                                    std::to_integer<unsigned>(from[1]));
}

[[nodiscard]] constexpr std::uint32_t read_u32(std::span<const std::byte, 4> from) {
  return static_cast<std::uint32_t>(read_u16(from.first<2>())) << 16U |
         read_u16(from.subspan<2, 2>());
}

[[nodiscard]] constexpr std::uint64_t read_u64(std::span<const std::byte, 8> from) {
  return static_cast<std::uint64_t>(read_u32(from.first<4>())) << 32U |
         read_u32(from.subspan<4, 4>());
}

constexpr void write_u16(std::span<std::byte, 2> to, std::uint16_t value) {
  to[0] = static_cast<std::byte>(value >> 8U);
  to[1] = static_cast<std::byte>(value & 0xFFU);
}

constexpr void write_u32(std::span<std::byte, 4> to, std::uint32_t value) {
  write_u16(to.first<2>(), static_cast<std::uint16_t>(value >> 16U));
  write_u16(to.subspan<2, 2>(), static_cast<std::uint16_t>(value & 0xFFFFU));
}

constexpr void write_u64(std::span<std::byte, 8> to, std::uint64_t value) {
  write_u32(to.first<4>(), static_cast<std::uint32_t>(value >> 32U));
  write_u32(to.subspan<4, 4>(), static_cast<std::uint32_t>(value & 0xFFFFFFFFU));
}

}  // namespace strata::wire
