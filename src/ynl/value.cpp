#include "ynl/value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <utility>
#include <vector>

#include "text/nearest.hpp"
#include "text/number.hpp"
#include "text/readable.hpp"

namespace strata::ynl {

using nl::attribute_kind;
using nlohmann::json;

namespace {

/// An enum may be used as flags although its values are no bits.
std::uint64_t bits_of(const entry& entry) {
  return entry.value < 64 ? std::uint64_t{1} << entry.value : 0;
}

/// Parses a number, or names of it; `a|b` for flags.
template <class Number>
std::optional<Number> number_of(std::string_view text, const enumeration* names, bool is_flags) {
  if (const auto number = text::number_in<Number>(text)) return number;
  if (names == nullptr) return {};
  std::uint64_t sum = 0;
  for (;;) {
    const auto end = is_flags ? text.find('|') : std::string_view::npos;
    const auto word = text.substr(0, end);
    if (const auto* const entry = names->find(word)) {
      sum |= is_flags ? bits_of(*entry) : entry->value;
    } else if (const auto number = text::number_in<std::uint64_t>(word)) {
      sum |= *number;
    } else {
      return {};
    }
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  if (!std::in_range<Number>(sum)) return {};
  return static_cast<Number>(sum);
}

template <class Number>
bool put_number(wire::netlink_writer& writer, const value_place& place, std::string_view typed) {
  const auto* const named = place.named;
  auto number = number_of<Number>(typed, place.names, place.names != nullptr && named->is_flags);
  if (!number) return false;
  if (named != nullptr && named->is_big_endian) number = std::byteswap(*number);
  writer.put_number(place.number, *number);
  return true;
}

bool put_hex(wire::netlink_writer& writer, std::uint16_t number, std::string_view digits) {
  std::vector<std::byte> bytes;
  for (std::size_t at = 0; at < digits.size(); at += 2) {
    const auto* const first = digits.data() + at;
    std::uint8_t byte = 0;
    const auto* const end = digits.data() + std::min(at + 2, digits.size());
    const auto [rest, code] = std::from_chars(first, end, byte, 16);
    if (code != std::errc{} || rest != first + 2) return false;
    bytes.push_back(std::byte{byte});
  }
  writer.put(number, bytes);
  return true;
}

bool put(wire::netlink_writer& writer, const value_place& place,
         std::optional<std::string_view> typed) {
  const auto text = typed.value_or("");
  switch (place.kind) {
    case attribute_kind::flag: writer.put(place.number, {}); return !typed;
    case attribute_kind::u8: return put_number<std::uint8_t>(writer, place, text);
    case attribute_kind::u16: return put_number<std::uint16_t>(writer, place, text);
    case attribute_kind::u32: return put_number<std::uint32_t>(writer, place, text);
    case attribute_kind::u64:
    case attribute_kind::uint: return put_number<std::uint64_t>(writer, place, text);
    case attribute_kind::s8: return put_number<std::int8_t>(writer, place, text);
    case attribute_kind::s16: return put_number<std::int16_t>(writer, place, text);
    case attribute_kind::s32: return put_number<std::int32_t>(writer, place, text);
    case attribute_kind::s64:
    case attribute_kind::sint: return put_number<std::int64_t>(writer, place, text);
    case attribute_kind::string:
    case attribute_kind::nul_string: writer.put_text(place.number, text); return typed.has_value();
    case attribute_kind::nested:
    case attribute_kind::nested_array:
      if (typed) return put_hex(writer, place.number, text);
      writer.open_nest(place.number).close_nest();
      return true;
    default: return put_hex(writer, place.number, text);
  }
}

template <class Number>
json number_to_json(const wire::netlink_attribute& attribute, bool is_big_endian) {
  const auto number = attribute.number<Number>();
  if (!number) return nullptr;
  return is_big_endian ? std::byteswap(*number) : *number;
}

/// Converts a number of the width that the kernel chose.
template <class Narrow, class Wide>
json any_number_to_json(const wire::netlink_attribute& attribute) {
  return attribute.value().size() == sizeof(Narrow) ? number_to_json<Narrow>(attribute, false)
                                                    : number_to_json<Wide>(attribute, false);
}

json plain_to_json(const wire::netlink_attribute& attribute, attribute_kind kind,
                   bool is_big_endian) {
  switch (kind) {
    case attribute_kind::flag: return true;
    case attribute_kind::u8: return number_to_json<std::uint8_t>(attribute, is_big_endian);
    case attribute_kind::u16: return number_to_json<std::uint16_t>(attribute, is_big_endian);
    case attribute_kind::u32: return number_to_json<std::uint32_t>(attribute, is_big_endian);
    case attribute_kind::u64: return number_to_json<std::uint64_t>(attribute, is_big_endian);
    case attribute_kind::s8: return number_to_json<std::int8_t>(attribute, is_big_endian);
    case attribute_kind::s16: return number_to_json<std::int16_t>(attribute, is_big_endian);
    case attribute_kind::s32: return number_to_json<std::int32_t>(attribute, is_big_endian);
    case attribute_kind::s64: return number_to_json<std::int64_t>(attribute, is_big_endian);
    case attribute_kind::uint: return any_number_to_json<std::uint32_t, std::uint64_t>(attribute);
    case attribute_kind::sint: return any_number_to_json<std::int32_t, std::int64_t>(attribute);
    case attribute_kind::string:
    case attribute_kind::nul_string: return text::printable(attribute.text());
    default: return nullptr;
  }
}

json flags_to_json(std::uint64_t bits, const enumeration& names) {
  auto list = json::array();
  for (const auto& each : names.entries) {
    if ((bits & bits_of(each)) == 0) continue;
    list.push_back(text::printable(each.name));
    bits &= ~bits_of(each);
  }
  if (bits != 0) list.push_back(bits);
  return list;
}

}  // namespace

result<void> put_value(wire::netlink_writer& writer, const value_place& place,
                       std::optional<std::string_view> typed) {
  const auto refused = [](std::string why) {
    return failure(errc::invalid_argument, "write an attribute", std::move(why));
  };
  const bool is_nest =
      place.kind == attribute_kind::nested || place.kind == attribute_kind::nested_array;
  if (place.named != nullptr && place.kind == attribute_kind::invalid) {
    return refused("it is padding or unused");
  }
  if (put(writer, place, typed)) return {};
  if (place.names != nullptr) {
    return refused(fmt::format("its value is not of type {}, and {} of {}", nl::name_of(place.kind),
                               place.named->is_flags ? "not made (as a|b)" : "not one",
                               text::names_listed(names_in(place.names->entries))));
  }
  if (is_nest) return refused("it contains attributes");
  return refused(fmt::format("its value is not of type {}", nl::name_of(place.kind)));
}

json value_to_json(const wire::netlink_attribute& source, const attribute& named,
                   const enumeration* names) {
  if (named.kind == attribute_kind::bitfield32) {
    const auto both = source.number<std::uint64_t>();
    if (!both) return nullptr;
    std::array<std::uint32_t, 2> halves{};
    std::memcpy(halves.data(), source.value().data(), sizeof halves);
    return {{"value", halves[0]}, {"selector", halves[1]}};
  }
  auto value = plain_to_json(source, named.kind, named.is_big_endian);
  if (names == nullptr || !value.is_number()) return value;
  const auto number = value.is_number_unsigned()
                          ? value.get<std::uint64_t>()
                          : static_cast<std::uint64_t>(value.get<std::int64_t>());
  if (named.is_flags) return flags_to_json(number, *names);
  const auto* const entry = names->find(number);
  return entry != nullptr ? json(text::printable(entry->name)) : value;
}

}  // namespace strata::ynl
