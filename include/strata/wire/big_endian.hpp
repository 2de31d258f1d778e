// Numbers in network order, read and written at any alignment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace strata::wire {

[[nodiscard]] constexpr std::uint16_t read_u16(std::span<const std::byte, 2> bytes) {
  return static_cast<std::uint16_t>(std::to_integer<unsigned>(bytes[0]) << 8U |
                                    std::to_integer<unsigned>(bytes[1]));
}

[[nodiscard]] constexpr std::uint32_t read_u32(std::span<const std::byte, 4> bytes) {
  return static_cast<std::uint32_t>(read_u16(bytes.first<2>())) << 16U |
         read_u16(bytes.subspan<2, 2>());
}

[[nodiscard]] constexpr std::uint64_t read_u64(std::span<const std::byte, 8> bytes) {
  return static_cast<std::uint64_t>(read_u32(bytes.first<4>())) << 32U |
         read_u32(bytes.subspan<4, 4>());
}

constexpr void write_u16(std::span<std::byte, 2> bytes, std::uint16_t value) {
  bytes[0] = static_cast<std::byte>(value >> 8U);
  bytes[1] = static_cast<std::byte>(value & 0xFFU);
}

constexpr void write_u32(std::span<std::byte, 4> bytes, std::uint32_t value) {
  write_u16(bytes.first<2>(), static_cast<std::uint16_t>(value >> 16U));
  write_u16(bytes.subspan<2, 2>(), static_cast<std::uint16_t>(value & 0xFFFFU));
}

constexpr void write_u64(std::span<std::byte, 8> bytes, std::uint64_t value) {
  write_u32(bytes.first<4>(), static_cast<std::uint32_t>(value >> 32U));
  write_u32(bytes.subspan<4, 4>(), static_cast<std::uint32_t>(value & 0xFFFFFFFFU));
}

}  // namespace strata::wire
