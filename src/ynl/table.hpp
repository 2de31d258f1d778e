// Messages as tables by name, as programs read and write them: `{dev_name = "eth0", up = true}`.
#pragma once

#include <nlohmann/json.hpp>

#include "strata/wire/netlink.hpp"
#include "ynl/spec.hpp"

namespace strata::ynl {

/// Of names with underscores: numbers (those beyond 2^53 as text), texts, entries' names, lists of
/// those of bits, true for a flag, bytes as a string of them, tables of nests; a list of what may
/// stand more than once. What the scope does not know goes by its number, as bytes.
[[nodiscard]] nlohmann::json to_table(const wire::netlink_attributes& attributes,
                                      const scope& scope);

/// Writes such a table; names may have dashes too, and numbers stand for names. A list writes its
/// attribute as often. Errors: invalid_argument, whose reason names the attribute.
[[nodiscard]] result<void> put_table(wire::netlink_writer& writer, const nlohmann::json& table,
                                     const scope& scope);

}  // namespace strata::ynl
