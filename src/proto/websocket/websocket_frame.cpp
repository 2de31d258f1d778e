#include "proto/websocket/websocket_frame.hpp"

#include <bit>
#include <cassert>
#include <cstring>

#include "text/utf8.hpp"

namespace strata::proto {

namespace {

/// Two registers of SSE2 or NEON; the compiler may use a wider one.
using lanes = std::uint64_t __attribute__((vector_size(32)));

constexpr std::size_t group_bytes = 2 * sizeof(lanes);
constexpr std::size_t worth_lanes = 256;  // measured: below it plain words are faster

void mask_lanes(const std::byte* bytes, std::byte* to, const lanes& keys) {
  lanes block;
  std::memcpy(&block, bytes, sizeof block);
  block ^= keys;
  std::memcpy(to, &block, sizeof block);
}

/// Masks all whole groups, and returns how many bytes that was.
std::size_t mask_groups(byte_span bytes, std::byte* to, std::uint64_t word) {
  const lanes keys = {word, word, word, word};
  std::size_t at = 0;
  for (; at + group_bytes <= bytes.size(); at += group_bytes) {
    mask_lanes(bytes.data() + at, to + at, keys);
    mask_lanes(bytes.data() + at + sizeof keys, to + at + sizeof keys, keys);
  }
  return at;
}

std::byte byte_of(std::uint64_t value, unsigned shift) {
  return static_cast<std::byte>(value >> shift & 0xFFU);
}

}  // namespace

bool is_valid_close_code(std::uint16_t code) {
  return (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) ||
         (code >= 3000 && code <= 4999);
}

std::string_view name_of(websocket_close code) {
  switch (code) {
    case websocket_close::normal: return "normal closure";
    case websocket_close::going_away: return "going away";
    case websocket_close::protocol_error: return "protocol error";
    case websocket_close::unsupported_data: return "unsupported data";
    case websocket_close::no_status: return "no status";
    case websocket_close::abnormal: return "abnormal closure";
    case websocket_close::invalid_data: return "invalid data";
    case websocket_close::policy_violation: return "policy violation";
    case websocket_close::message_too_big: return "message too big";
    case websocket_close::mandatory_extension: return "mandatory extension";
    case websocket_close::internal_error: return "internal error";
    case websocket_close::service_restart: return "service restart";
    case websocket_close::try_again_later: return "try again later";
    case websocket_close::bad_gateway: return "bad gateway";
    case websocket_close::tls_failure: return "TLS failure";
  }
  return "unknown";
}

websocket_head websocket_head_for(const websocket_frame& frame, std::uint64_t payload_size) {
  assert(!is_control(frame.opcode) || (frame.is_final && payload_size <= max_control_payload));
  websocket_head made;
  const auto put = [&](std::byte byte) { made.bytes[made.size++] = byte; };
  put(static_cast<std::byte>((frame.is_final ? 0x80U : 0U) | (frame.is_compressed ? 0x40U : 0U) |
                             static_cast<unsigned>(frame.opcode)));
  // Section 5.2 requires the shortest form.
  const unsigned length_bytes = payload_size < 126 ? 0 : payload_size <= 0xFFFF ? 2 : 8;
  const auto length = length_bytes == 0 ? payload_size : length_bytes == 2 ? 126U : 127U;
  put(static_cast<std::byte>((frame.mask ? 0x80U : 0U) | length));
  for (unsigned left = length_bytes; left > 0; --left) put(byte_of(payload_size, 8 * (left - 1)));
  if (frame.mask) {
    for (const auto byte : *frame.mask) put(byte);
  }
  return made;
}

void apply_mask(byte_span bytes, std::byte* to, websocket_mask mask, std::uint64_t offset) {
  constexpr bool is_little = std::endian::native == std::endian::little;
  const int turn = static_cast<int>(offset % mask.size() * 8);
  const auto key = std::rotr(std::bit_cast<std::uint32_t>(mask), is_little ? turn : -turn);
  const std::uint64_t word = std::uint64_t{key} << 32U | key;
  std::size_t at = bytes.size() < worth_lanes ? 0 : mask_groups(bytes, to, word);
  for (; at + sizeof word <= bytes.size(); at += sizeof word) {
    std::uint64_t block = 0;
    std::memcpy(&block, bytes.data() + at, sizeof block);
    block ^= word;
    std::memcpy(to + at, &block, sizeof block);
  }
  const auto rotated = std::bit_cast<websocket_mask>(key);
  for (std::size_t i = 0; at < bytes.size(); ++at, ++i)
    to[at] = bytes[at] ^ rotated[i % rotated.size()];
}

void apply_mask(mutable_byte_span bytes, websocket_mask mask, std::uint64_t offset) {
  apply_mask(bytes, bytes.data(), mask, offset);
}

std::string websocket_close_payload(websocket_close code, std::string_view reason) {
  if (code == websocket_close::no_status) return {};
  const auto number = static_cast<std::uint16_t>(code);
  assert(is_valid_close_code(number));
  std::string payload{static_cast<char>(number >> 8U), static_cast<char>(number & 0xFFU)};
  payload += text::utf8_prefix(reason, max_control_payload - payload.size());
  return payload;
}

}  // namespace strata::proto
