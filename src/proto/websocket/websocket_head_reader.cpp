#include "proto/websocket/websocket_head_reader.hpp"

#include <algorithm>

namespace strata::proto {

namespace {

std::uint64_t number_in(byte_span bytes) {
  std::uint64_t number = 0;
  for (const auto byte : bytes) number = number << 8U | std::to_integer<std::uint64_t>(byte);
  return number;
}

}  // namespace

std::expected<bool, const char*> websocket_head_reader::read(byte_span& rest, place place,
                                                             head& head) {
  for (auto size = wanted(); size_ < size; size = wanted()) {
    if (rest.empty()) return false;
    const auto part = std::min(size - size_, rest.size());
    std::memcpy(bytes_.data() + size_, rest.data(), part);
    size_ = static_cast<std::uint8_t>(size_ + part);
    rest = rest.subspan(part);
    if (size_ != opening_size) continue;
    if (const char* wrong = wrong_opening(place); wrong != nullptr) return std::unexpected(wrong);
  }
  return end(head);
}

std::size_t websocket_head_reader::wanted() const {
  if (size_ < opening_size) return opening_size;
  const auto length = std::to_integer<unsigned>(bytes_[1]) & 0x7FU;
  const std::size_t length_bytes = length < 126 ? 0 : length == 126 ? 2 : 8;
  return opening_size + length_bytes + mask_size();
}

/// Returns the fault in the first two bytes of a head, or null. By section 5.2, unless another
/// section is named.
const char* websocket_head_reader::wrong_opening(place place) const {
  const auto first = std::to_integer<unsigned>(bytes_[0]);
  const auto second = std::to_integer<unsigned>(bytes_[1]);
  const unsigned opcode = first & 0x0FU;
  const bool is_control_frame = opcode >= 8;
  const bool is_continuation = opcode == 0;
  if ((first & 0x30U) != 0) return "a frame has a reserved bit set";
  // RFC 7692 section 6: only in the first frame of a message.
  if ((first & 0x40U) != 0 && (!place.may_be_compressed || is_control_frame || is_continuation)) {
    return "a frame that must not be compressed is marked as compressed";
  }
  if ((opcode > 2 && opcode < 8) || opcode > 10) return "a frame has a reserved opcode";
  if (((second & 0x80U) != 0) != (side_ == websocket_role::server)) {  // section 5.1
    return side_ == websocket_role::server ? "a client's frame is not masked"
                                           : "a server's frame is masked";
  }
  if (is_control_frame) {  // section 5.5
    if ((first & 0x80U) == 0) return "a control frame is fragmented";
    if ((second & 0x7FU) > max_control_payload) return "a control frame has more than 125 bytes";
    return nullptr;
  }
  // section 5.4
  if (is_continuation && !place.is_in_message) return "a fragment has no message to continue";
  if (!is_continuation && place.is_in_message) return "a message begins within another";
  return nullptr;
}

std::expected<bool, const char*> websocket_head_reader::end(head& head) {
  const auto first = std::to_integer<unsigned>(bytes_[0]);
  const auto mask_at = size_ - mask_size();
  const auto length = byte_span(bytes_).first(mask_at).subspan(opening_size);
  head.frame = {.opcode = static_cast<websocket_opcode>(first & 0x0FU),
                .is_final = (first & 0x80U) != 0,
                .is_compressed = (first & 0x40U) != 0,
                .mask = {}};
  head.payload_size = std::to_integer<unsigned>(bytes_[1]) & 0x7FU;
  if (!length.empty()) head.payload_size = number_in(length);
  if (length.size() == 8 && head.payload_size > INT64_MAX) {
    return std::unexpected("a frame's length has its top bit set");
  }
  if ((length.size() == 2 && head.payload_size < 126) ||
      (length.size() == 8 && head.payload_size <= 0xFFFF)) {
    return std::unexpected("a frame's length is not in its shortest form");
  }
  if (mask_size() != 0) {
    std::memcpy(head.frame.mask.emplace().data(), &bytes_[mask_at], mask_size());
  }
  size_ = 0;
  return true;
}

}  // namespace strata::proto
