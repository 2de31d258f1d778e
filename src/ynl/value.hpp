// The value of an attribute: as it is typed, and as it is shown.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "strata/nl/generic.hpp"
#include "strata/wire/netlink.hpp"
#include "ynl/spec.hpp"

namespace strata::ynl {

/// What a value is to be written as.
struct value_place {
  std::uint16_t number = 0;
  nl::attribute_kind kind = nl::attribute_kind::invalid;
  const attribute* named = nullptr;    ///< nullptr where no specification tells of it
  const enumeration* names = nullptr;  ///< of its numbers
};

/// Writes what was typed; bytes are hexadecimal. Errors: invalid_argument, whose reason says what
/// the attribute takes.
[[nodiscard]] result<void> put_value(wire::netlink_writer& writer, const value_place& place,
                                     std::optional<std::string_view> typed);

/// As the specification says: a text, a number, an entry's name, a list of those of bits, true for
/// a flag. Null when the value is of no such form, or is shown as bytes.
[[nodiscard]] nlohmann::json value_to_json(const wire::netlink_attribute& source,
                                           const attribute& named, const enumeration* names);

}  // namespace strata::ynl
