// Netlink messages (netlink(7), RFC 3549): views of those received, and a writer of requests. All
// numbers are in the byte order of the machine.
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
constexpr std::uint16_t exclusive = 0x200;  ///< of a request to make: it must not be there
constexpr std::uint16_t create = 0x400;
constexpr std::uint16_t capped = 0x100;    ///< of an ACK: of the request it has the header only
constexpr std::uint16_t ack_tlvs = 0x200;  ///< of an ACK: an extended one
}  // namespace netlink_flag

struct netlink_header {
  std::uint32_t size = 0;
  std::uint16_t type = 0;
  std::uint16_t flags = 0;
  std::uint32_t sequence = 0;
  std::uint32_t port = 0;
};

/// One message of a datagram; valid as long as the bytes it was made from.
class netlink_message {
 public:
  static constexpr std::size_t header_size = 16;

  /// The first of `bytes`; nullopt when they end within it, or its size is below its header's.
  [[nodiscard]] static std::optional<netlink_message> parse(byte_span bytes);

  [[nodiscard]] const netlink_header& header() const { return header_; }
  [[nodiscard]] byte_span bytes() const { return bytes_; }
  [[nodiscard]] byte_span payload() const { return bytes_.subspan(header_size); }
  /// Behind the family's own header of `header_size` bytes; none when it ends within that.
  [[nodiscard]] netlink_attributes attributes(std::size_t family_header) const;
  [[nodiscard]] bool is(netlink_control type) const {
    return header_.type == static_cast<std::uint16_t>(type);
  }
  [[nodiscard]] bool has(std::uint16_t flag) const { return (header_.flags & flag) == flag; }
  /// What follows it in its datagram, `bytes` being those it was parsed from.
  [[nodiscard]] byte_span rest_of(byte_span bytes) const;

 private:
  netlink_message(const netlink_header& header, byte_span bytes) : header_(header), bytes_(bytes) {}
  netlink_header header_;
  byte_span bytes_;
};

/// What an NLMSG_ERROR says, or an NLMSG_DONE; an error number of 0 is an ACK.
struct netlink_ack {
  int error_number = 0;  ///< positive
  std::string_view text;
  /// Of what is wrong, from the beginning of the request.
  std::optional<std::uint32_t> offset;
  /// The type of an attribute that is missing, and the offset of the nest that it belongs into.
  std::optional<std::uint32_t> missing_type;
  std::optional<std::uint32_t> missing_nest;
  byte_span cookie;

  /// nullopt when it is neither, or ends too early.
  [[nodiscard]] static std::optional<netlink_ack> parse(const netlink_message& message);
};

/// Writes a message into memory that somebody else owns. What has no room is left out, and
/// `bytes()` is nullopt then.
class netlink_writer {
 public:
  netlink_writer() = default;
  explicit netlink_writer(mutable_byte_span memory) : memory_(memory) {}

  /// Begins a message behind those that are there; its size is written when it is done.
  netlink_writer& begin(std::uint16_t type, std::uint16_t flags);
  /// The family's own header.
  netlink_writer& put_header(byte_span header);
  netlink_writer& put(std::uint16_t type, byte_span value);
  template <std::integral Number>
  netlink_writer& put_number(std::uint16_t type, Number value) {
    return put(type, std::as_bytes(std::span(&value, 1)));
  }
  /// With a NUL behind it.
  netlink_writer& put_text(std::uint16_t type, std::string_view text);
  /// Attributes up to `close_nest` are within this one. At most 8 deep.
  netlink_writer& open_nest(std::uint16_t type);
  netlink_writer& close_nest();

  /// All messages; nullopt when something had no room.
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
