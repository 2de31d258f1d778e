// The value of an attribute: as it is typed, and as it is shown.
#pragma once

#include <nlohmann/json.hpp>

#include "cli/nl/attribute_path.hpp"
#include "strata/nl/generic.hpp"

namespace strata::cli {

/// Writes what was typed. `named` is what the specification says, or nullptr. Errors: misused,
/// naming what the attribute takes.
[[nodiscard]] outcome<> put_value(wire::netlink_writer& to, const typed_attribute& what,
                                  nl::attribute_kind kind, const ynl::attribute* named);

/// As the specification says: a text, a number, an entry's name, a list of those of bits, true for
/// a flag. Null when the value is of no such form, or is shown as bytes.
[[nodiscard]] nlohmann::json value_to_json(const wire::netlink_attribute& attribute,
                                           const ynl::attribute& named,
                                           const ynl::enumeration* names);

}  // namespace strata::cli
