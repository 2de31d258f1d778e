#include "strata/wire/probe.hpp"

#include <algorithm>

#include "strata/wire/big_endian.hpp"

namespace strata::wire {

namespace {

constexpr std::uint32_t probe_magic = 0x73'4C'32'50;  // "sL2P"

}  // namespace

std::optional<probe> probe::parse(byte_span payload) {
  if (payload.size() < size) return std::nullopt;
  const auto head = payload.first<size>();
  const auto kind = std::to_integer<std::uint8_t>(head[4]);
  const bool has_zeros =
      std::ranges::all_of(head.subspan<5, 3>(), [](auto each) { return each == std::byte{0}; });
  const bool is_known = kind >= static_cast<std::uint8_t>(probe_kind::request) &&
                        kind <= static_cast<std::uint8_t>(probe_kind::load);
  if (read_u32(head.first<4>()) != probe_magic || !is_known || !has_zeros) return std::nullopt;
  return probe{.kind = static_cast<probe_kind>(kind),
               .run = read_u64(head.subspan<8, 8>()),
               .sequence = read_u64(head.subspan<16, 8>()),
               .time_ns = read_u64(head.subspan<24, 8>())};
}

void probe::write(std::span<std::byte, size> bytes) const {
  write_u32(bytes.first<4>(), probe_magic);
  std::ranges::fill(bytes.subspan<4, 4>(), std::byte{0});
  bytes[4] = static_cast<std::byte>(kind);
  write_u64(bytes.subspan<8, 8>(), run);
  write_u64(bytes.subspan<16, 8>(), sequence);
  write_u64(bytes.subspan<24, 8>(), time_ns);
}

}  // namespace strata::wire
