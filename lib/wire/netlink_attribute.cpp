#include "strata/wire/netlink_attribute.hpp"

#include <algorithm>

namespace strata::wire {

namespace {

constexpr std::uint16_t big_endian_bit = 0x4000;
constexpr std::uint16_t type_bits = 0x3FFF;

std::uint16_t u16_at(byte_span bytes, std::size_t offset) {
  std::uint16_t value = 0;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

}  // namespace

netlink_attribute::netlink_attribute(std::uint16_t type, byte_span value)
    : type_(type & type_bits),
      is_nested_((type & nested_bit) != 0),
      is_big_endian_((type & big_endian_bit) != 0),
      value_(value) {}

std::optional<netlink_attribute> netlink_attribute::parse(byte_span bytes) {
  if (bytes.size() < header_size) return {};
  const std::size_t size = u16_at(bytes, 0);
  if (size < header_size || size > bytes.size()) return {};
  return netlink_attribute(u16_at(bytes, 2), bytes.subspan(header_size, size - header_size));
}

std::optional<std::uint64_t> netlink_attribute::any_number() const {
  switch (value_.size()) {
    case 1: return number<std::uint8_t>();
    case 2: return number<std::uint16_t>();
    case 4: return number<std::uint32_t>();
    case 8: return number<std::uint64_t>();
    default: return {};
  }
}

std::string_view netlink_attribute::text() const {
  const auto all = as_text(value_);
  return all.substr(0, all.find('\0'));
}

netlink_attributes::iterator& netlink_attributes::iterator::operator++() {
  rest_ = rest_.subspan(std::min(at_->padded_size(), rest_.size()));
  at_ = netlink_attribute::parse(rest_);
  return *this;
}

std::optional<netlink_attribute> netlink_attributes::find(std::uint16_t type) const {
  for (const auto& each : *this) {
    if (each.type() == type) return each;
  }
  return {};
}

netlink_attributes netlink_attributes::nest(std::uint16_t type) const {
  const auto found = find(type);
  return found ? netlink_attributes(found->value()) : netlink_attributes();
}

bool netlink_attributes::is_whole() const {
  auto at = begin();
  while (at != end()) ++at;
  return at.rest().empty();
}

netlink_attributes::path netlink_attributes::path_to(std::size_t offset) const {
  path found{};
  auto within = *this;
  for (auto& step : found) {
    for (const auto& each : within) {
      const auto begins = static_cast<std::size_t>(each.value().data() - bytes_.data()) -
                          netlink_attribute::header_size;
      if (offset < begins || offset >= begins + each.padded_size()) continue;
      step = each.type();
      // The offset is in the value, but in no attribute within it.
      if (offset < begins + netlink_attribute::header_size || !each.is_marked_nested()) {
        return found;
      }
      within = netlink_attributes(each.value());
      break;
    }
    if (step == 0) return found;
  }
  return found;
}

}  // namespace strata::wire
