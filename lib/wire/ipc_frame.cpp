#include "strata/wire/ipc_frame.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace strata::wire {

namespace {

constexpr std::size_t checksum_offset = 48;
constexpr std::uint8_t acknowledged_flag = 1;

std::uint64_t read_word(const std::byte* bytes) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof word);
  if constexpr (std::endian::native == std::endian::big) word = std::byteswap(word);
  return word;
}

// Each step is a bijection of the state, so that a difference persists; the rotation moves high
// bits to where the multiplication spreads them.
std::uint64_t mix(std::uint64_t state, std::uint64_t word) {
  return std::rotl(state ^ word, 29) * 0x9E3779B97F4A7C15ULL;
}

// Uses parallel lanes, since a lane's multiplication waits for its previous one; there are as many
// lanes as keep the multiplier busy. Unrolled, they stay in registers.
std::uint64_t checksum_of(std::uint64_t seed, byte_span bytes) {
  constexpr std::size_t word_size = sizeof(std::uint64_t);
  constexpr std::size_t lane_count = 8;
  std::array<std::uint64_t, lane_count> lanes;
  for (std::size_t i = 0; i < lane_count; ++i) lanes[i] = seed + i;
  const std::byte* at = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= lane_count * word_size; left -= lane_count * word_size) {
#pragma GCC unroll 8
    for (std::size_t i = 0; i < lane_count; ++i) {
      lanes[i] = mix(lanes[i], read_word(at + i * word_size));
    }
    at += lane_count * word_size;
  }
  auto state = mix(seed, bytes.size());
  for (const auto lane : lanes) state = mix(state, lane);
  for (; left >= word_size; left -= word_size, at += word_size) state = mix(state, read_word(at));
  std::array<std::byte, word_size> tail{};
  if (left != 0) std::memcpy(tail.data(), at, left);
  state = mix(state, read_word(tail.data()));
  return state ^ state >> 32U;
}

std::uint64_t checksum_of_frame(byte_span payload) {
  const auto seed = checksum_of(ipc_version, payload.first(checksum_offset));
  return checksum_of(seed, payload.subspan(ipc_header_size));
}

}  // namespace

std::optional<ipc_frame> ipc_frame::parse(byte_span payload) {
  if (payload.size() < ipc_header_size) return std::nullopt;
  const auto octet = [&](std::size_t offset) {
    return std::to_integer<std::uint8_t>(payload[offset]);
  };
  if (octet(0) != ipc_version || octet(3) != 0) return std::nullopt;
  if (octet(1) < 1 || octet(1) > static_cast<std::uint8_t>(ipc_kind::bye)) return std::nullopt;
  if ((octet(2) & ~acknowledged_flag) != 0) return std::nullopt;
  const std::size_t size = read_u32(payload.subspan<4, 4>());
  if (size > payload.size() - ipc_header_size) return std::nullopt;
  const auto whole = payload.first(ipc_header_size + size);
  if (read_u64(payload.subspan<checksum_offset, 8>()) != checksum_of_frame(whole)) {
    return std::nullopt;
  }
  const ipc_header header{.kind = static_cast<ipc_kind>(octet(1)),
                          .acknowledged = octet(2) != 0,
                          .channel = read_u64(payload.subspan<8, 8>()),
                          .sender = read_u64(payload.subspan<16, 8>()),
                          .receiver = read_u64(payload.subspan<24, 8>()),
                          .sequence = read_u64(payload.subspan<32, 8>()),
                          .message = read_u64(payload.subspan<40, 8>())};
  return ipc_frame(header, whole.subspan(ipc_header_size));
}

void seal_ipc_frame(mutable_byte_span payload, const ipc_header& header) {
  payload[0] = std::byte{ipc_version};
  payload[1] = static_cast<std::byte>(header.kind);
  payload[2] = header.acknowledged ? std::byte{acknowledged_flag} : std::byte{0};
  payload[3] = std::byte{0};
  write_u32(payload.subspan<4, 4>(), static_cast<std::uint32_t>(payload.size() - ipc_header_size));
  write_u64(payload.subspan<8, 8>(), header.channel);
  write_u64(payload.subspan<16, 8>(), header.sender);
  write_u64(payload.subspan<24, 8>(), header.receiver);
  write_u64(payload.subspan<32, 8>(), header.sequence);
  write_u64(payload.subspan<40, 8>(), header.message);
  write_u64(payload.subspan<checksum_offset, 8>(), checksum_of_frame(payload));
}

std::uint64_t ipc_channel_id(std::string_view name) { return checksum_of(0, as_bytes(name)); }

std::optional<ipc_fragment> ipc_fragment::parse(std::uint64_t sequence, byte_span body) {
  if (body.size() < head_size) return std::nullopt;
  const ipc_fragment found{.first = read_u64(body.first<8>()),
                           .total = read_u32(body.subspan<8, 4>()),
                           .count = read_u32(body.subspan<12, 4>()),
                           .piece = body.subspan(head_size)};
  if (found.count == 0 || found.count > found.total) return std::nullopt;
  if (sequence < found.first || sequence - found.first >= found.count) return std::nullopt;
  const auto offset = found.offset_of(sequence);
  if (found.piece.size() != std::min(found.piece_size(), found.total - offset)) {
    return std::nullopt;
  }
  return found;
}

std::size_t ipc_fragment::write(mutable_byte_span memory) const {
  write_u64(memory.first<8>(), first);
  write_u32(memory.subspan<8, 4>(), total);
  write_u32(memory.subspan<12, 4>(), count);
  copy_bytes(piece, memory.subspan(head_size));
  return head_size + piece.size();
}

std::size_t ipc_fragment::offset_of(std::uint64_t sequence) const {
  return std::min<std::size_t>(total, (sequence - first) * piece_size());
}

std::optional<ipc_acknowledgement> ipc_acknowledgement::parse(byte_span body) {
  if (body.size() < head_size || body.size() - head_size > max_selective / 8) return std::nullopt;
  return ipc_acknowledgement{.next = read_u64(body.first<8>()),
                             .window = read_u32(body.subspan<8, 4>()),
                             .selective = body.subspan(head_size)};
}

std::size_t ipc_acknowledgement::write(mutable_byte_span memory) const {
  write_u64(memory.first<8>(), next);
  write_u32(memory.subspan<8, 4>(), window);
  copy_bytes(selective, memory.subspan(head_size));
  return head_size + selective.size();
}

}  // namespace strata::wire
