// The value of an attribute, as typed and as shown.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "strata/nl/generic.hpp"
#include "strata/wire/netlink.hpp"
#include "ynl/spec.hpp"

namespace strata::ynl {

/// The attribute as which a value is to be written.
struct value_place {
  std::uint16_t number = 0;
  nl::attribute_kind kind = nl::attribute_kind::invalid;
  const attribute* named = nullptr;    ///< nullptr if no specification describes it
  const enumeration* names = nullptr;  ///< of its values
};

/// Writes a typed value; bytes are hexadecimal. Errors: invalid_argument, whose reason describes
/// what the attribute accepts.
[[nodiscard]] result<void> put_value(wire::netlink_writer& writer, const value_place& place,
                                     std::optional<std::string_view> typed);

/// Converts a value according to the specification: a text, a number, an entry's name, a list of
/// the names of bits, true for a flag. Null if the value has no such form, or is shown as bytes.
[[nodiscard]] nlohmann::json value_to_json(const wire::netlink_attribute& source,
                                           const attribute& named, const enumeration* names);

}  // namespace strata::ynl
