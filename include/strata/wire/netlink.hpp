// Netlink messages (netlink(7), RFC 3549): views of received messages, and a writer of requests.
// All numbers are in the byte order of the machine.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "strata/base/bytes.hpp"
#include "strata/wire/netlink_attribute.hpp"

namespace strata::wire {

/// Types below 16 are the same in every netlink family.
enum class netlink_control : std::uint16_t { noop = 1, error = 2, done = 3, overrun = 4 };

/// Flags of a message (NLM_F_…).
namespace netlink_flag {
constexpr std::uint16_t request = 0x001;
constexpr std::uint16_t multi = 0x002;
constexpr std::uint16_t ack = 0x004;
constexpr std::uint16_t dump_interrupted = 0x010;
constexpr std::uint16_t dump = 0x300;
constexpr std::uint16_t exclusive = 0x200;  ///< in a create request: fail if it exists
constexpr std::uint16_t create = 0x400;
constexpr std::uint16_t capped = 0x100;    ///< in an ACK: it has only the request's header
constexpr std::uint16_t ack_tlvs = 0x200;  ///< in an ACK: it is extended
}  // namespace netlink_flag

struct netlink_header {
  std::uint32_t size = 0;
  std::uint16_t type = 0;
  std::uint16_t flags = 0;
  std::uint32_t sequence = 0;
  std::uint32_t port = 0;
};

/// One message of a datagram; valid as long as its bytes.
class netlink_message {
 public:
  static constexpr std::size_t header_size = 16;

  /// Parses the first message of `bytes`; nullopt if they end within it, or its size is smaller
  /// than its header.
  [[nodiscard]] static std::optional<netlink_message> parse(byte_span bytes);

  [[nodiscard]] const netlink_header& header() const { return header_; }
  [[nodiscard]] byte_span bytes() const { return bytes_; }
  [[nodiscard]] byte_span payload() const { return bytes_.subspan(header_size); }
  /// The attributes behind the family's own header of `family_header` bytes; none if the message
  /// ends within that header.
  [[nodiscard]] netlink_attributes attributes(std::size_t family_header) const;
  [[nodiscard]] bool is(netlink_control type) const {
    return header_.type == static_cast<std::uint16_t>(type);
  }
  [[nodiscard]] bool has(std::uint16_t flag) const { return (header_.flags & flag) == flag; }
  /// The bytes behind this message in its datagram `bytes`, from which it was parsed.
  [[nodiscard]] byte_span rest_of(byte_span bytes) const;

 private:
  netlink_message(const netlink_header& header, byte_span bytes) : header_(header), bytes_(bytes) {}
  netlink_header header_;
  byte_span bytes_;
};

/// The contents of an NLMSG_ERROR or NLMSG_DONE; an error number of 0 is an ACK.
struct netlink_ack {
  int error_number = 0;  ///< positive
  std::string_view text;
  /// The offset of the fault, from the beginning of the request.
  std::optional<std::uint32_t> offset;
  /// The type of a missing attribute, and the offset of the nest that it belongs in.
  std::optional<std::uint32_t> missing_type;
  std::optional<std::uint32_t> missing_nest;
  byte_span cookie;

  /// Returns nullopt if the message is neither, or is too short.
  [[nodiscard]] static std::optional<netlink_ack> parse(const netlink_message& message);
};

/// Writes messages into memory of the caller. A part that has no room is left out, and `bytes()`
/// then returns nullopt.
class netlink_writer {
 public:
  netlink_writer() = default;
  explicit netlink_writer(mutable_byte_span memory) : memory_(memory) {}

  /// Begins a message behind the existing ones; its size is written when it is complete.
  netlink_writer& begin(std::uint16_t type, std::uint16_t flags);
  /// Writes the family's own header.
  netlink_writer& put_header(byte_span header);
  netlink_writer& put(std::uint16_t type, byte_span value);
  template <std::integral Number>
  netlink_writer& put_number(std::uint16_t type, Number value) {
    return put(type, std::as_bytes(std::span(&value, 1)));
  }
  /// Appends a NUL.
  netlink_writer& put_text(std::uint16_t type, std::string_view text);
  /// Opens a nest, which contains the attributes up to `close_nest`. At most 8 levels.
  netlink_writer& open_nest(std::uint16_t type);
  netlink_writer& close_nest();

  /// Returns all messages; nullopt if some part had no room.
  [[nodiscard]] std::optional<byte_span> bytes() const;
  void set_sequence(std::uint32_t sequence);
  void add_flags(std::uint16_t flags);

 private:
  static constexpr std::size_t deepest = 8;
  std::byte* room_for(std::size_t size);
  void write_u16(std::size_t offset, std::uint16_t value);
  void write_size();

  mutable_byte_span memory_;
  std::size_t size_ = 0;
  std::size_t message_ = 0;
  std::array<std::size_t, deepest> nests_{};
  std::size_t depth_ = 0;
  bool is_full_ = false;
};

}  // namespace strata::wire
