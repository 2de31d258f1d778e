// Reads the heads of a WebSocket connection's frames (RFC 6455 section 5.2), however their bytes
// are split. Rejects heads that are invalid in any frame, or in this frame's place.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <expected>
#include <tuple>

#include "proto/websocket/websocket_frame.hpp"
#include "strata/base/bytes.hpp"

namespace strata::proto {

class websocket_head_reader {
 public:
  struct head {
    websocket_frame frame;
    std::uint64_t payload_size = 0;
  };
  /// What is allowed of the next frame.
  struct place {
    bool is_in_message = false;      ///< a message is incomplete
    bool may_be_compressed = false;  ///< compression was agreed
  };

  explicit websocket_head_reader(websocket_role side) : side_(side) {}

  /// Takes the bytes of one head off the beginning of `rest`. Returns false if more are needed.
  /// After an error, which names the fault, read no more.
  [[nodiscard]] std::expected<bool, const char*> read(byte_span& rest, place place, head& head);
  /// Reads the head of a short message in one frame, the usual case: if the head lies there whole,
  /// one check replaces the many that other heads take. Only between messages. Returns false and
  /// takes nothing if it is another head.
  [[nodiscard]] bool read_short(byte_span& rest, head& head) const;
  /// The side that reads.
  [[nodiscard]] websocket_role side() const { return side_; }

 private:
  static constexpr std::size_t opening_size = 2;  // the part of a head that determines its size

  [[nodiscard]] std::size_t wanted() const;
  [[nodiscard]] std::size_t mask_size() const {
    return side_ == websocket_role::server ? std::tuple_size_v<websocket_mask> : 0;
  }
  [[nodiscard]] const char* wrong_opening(place place) const;
  [[nodiscard]] std::expected<bool, const char*> end(head& head);

  std::array<std::byte, websocket_head::max_size> bytes_{};
  std::uint8_t size_ = 0;
  websocket_role side_;
};

inline bool websocket_head_reader::read_short(byte_span& rest, head& head) const {
  const auto size = opening_size + mask_size();
  if (size_ != 0 || rest.size() < size) return false;
  const auto first = std::to_integer<unsigned>(rest[0]);
  const auto second = std::to_integer<unsigned>(rest[1]);
  const auto length = second & 0x7FU;
  const bool is_masked = second >> 7U != 0;
  const bool is_whole_message = first == 0x81U || first == 0x82U;
  if (!is_whole_message || length >= 126 || is_masked != (mask_size() != 0)) return false;
  head.frame = {.opcode = static_cast<websocket_opcode>(first & 0x0FU),
                .is_final = true,
                .is_compressed = false,
                .mask = {}};
  if (is_masked) {
    std::memcpy(head.frame.mask.emplace().data(), &rest[opening_size], size - opening_size);
  }
  head.payload_size = length;
  rest = rest.subspan(size);
  return true;
}

}  // namespace strata::proto
