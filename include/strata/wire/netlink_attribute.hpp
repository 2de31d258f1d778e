// Netlink attributes (netlink(7), include/uapi/linux/netlink.h): type, length, value, each padded
// to four bytes, and nests of them. Numbers are in the byte order of the machine.
//
// Views of bytes owned by the caller; they are checked as they are traversed, so no input makes
// them read out of bounds. For any thread.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <optional>
#include <string_view>

#include "strata/base/bytes.hpp"

namespace strata::wire {

constexpr std::size_t netlink_alignment = 4;
constexpr std::size_t netlink_aligned(std::size_t size) {
  return (size + netlink_alignment - 1) / netlink_alignment * netlink_alignment;
}

/// One attribute.
class netlink_attribute {
 public:
  static constexpr std::size_t header_size = 4;
  /// A bit of the type: the value consists of attributes (NLA_F_NESTED).
  static constexpr std::uint16_t nested_bit = 0x8000;

  /// Parses the first attribute of `bytes`; nullopt if they end within it, or its length is smaller
  /// than its header.
  [[nodiscard]] static std::optional<netlink_attribute> parse(byte_span bytes);

  [[nodiscard]] std::uint16_t type() const { return type_; }
  /// Reports whether the sender marked it as a nest. Older families do not.
  [[nodiscard]] bool is_marked_nested() const { return is_nested_; }
  [[nodiscard]] bool is_big_endian() const { return is_big_endian_; }
  [[nodiscard]] byte_span value() const { return value_; }
  /// The size with header and padding; the padding of the last attribute may be missing.
  [[nodiscard]] std::size_t padded_size() const {
    return netlink_aligned(header_size + value_.size());
  }

  /// Returns nullopt if the value has another size.
  template <std::integral Number>
  [[nodiscard]] std::optional<Number> number() const {
    if (value_.size() != sizeof(Number)) return {};
    Number made{};
    std::memcpy(&made, value_.data(), sizeof made);
    return made;
  }
  /// An unsigned number of one, two, four or eight bytes; nullopt for other sizes.
  [[nodiscard]] std::optional<std::uint64_t> any_number() const;
  /// The text up to its NUL, or all of the value if it has none.
  [[nodiscard]] std::string_view text() const;

 private:
  netlink_attribute(std::uint16_t type, byte_span value);

  std::uint16_t type_;
  bool is_nested_;
  bool is_big_endian_;
  byte_span value_;
};

/// A sequence of attributes: those of a message, or those in a nest.
class netlink_attributes {
 public:
  netlink_attributes() = default;
  explicit netlink_attributes(byte_span bytes) : bytes_(bytes) {}

  /// Ends at the first malformed attribute.
  class iterator {
   public:
    using value_type = netlink_attribute;
    using difference_type = std::ptrdiff_t;
    iterator() = default;
    explicit iterator(byte_span rest) : rest_(rest), at_(netlink_attribute::parse(rest)) {}
    const netlink_attribute& operator*() const { return *at_; }
    const netlink_attribute* operator->() const { return &*at_; }
    iterator& operator++();
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t /*end*/) const { return !at_; }
    /// The bytes not yet traversed.
    [[nodiscard]] byte_span rest() const { return rest_; }

   private:
    byte_span rest_;
    std::optional<netlink_attribute> at_;
  };
  [[nodiscard]] iterator begin() const { return iterator(bytes_); }
  [[nodiscard]] static std::default_sentinel_t end() { return {}; }

  [[nodiscard]] byte_span bytes() const { return bytes_; }
  [[nodiscard]] bool empty() const { return bytes_.empty(); }
  /// Returns the first attribute of that type.
  [[nodiscard]] std::optional<netlink_attribute> find(std::uint16_t type) const;
  /// Returns the attributes in the first attribute of that type; empty if there is none.
  [[nodiscard]] netlink_attributes nest(std::uint16_t type) const;
  /// Reports whether no bytes are left over behind the last attribute.
  [[nodiscard]] bool is_whole() const;

  /// The attribute at an offset in `bytes()`, as attribute types from the outermost inward,
  /// terminated by 0. At most `max_depth` levels. For the offset of an extended ACK.
  static constexpr std::size_t max_depth = 8;
  using path = std::array<std::uint16_t, max_depth>;
  [[nodiscard]] path path_to(std::size_t offset) const;

 private:
  byte_span bytes_;
};

}  // namespace strata::wire
