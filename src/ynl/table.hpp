// Messages as tables by name, in the form that programs read and write: `{dev_name = "eth0", up =
// true}`.
#pragma once

#include <nlohmann/json.hpp>

#include "strata/wire/netlink.hpp"
#include "ynl/spec.hpp"

namespace strata::ynl {

/// Converts attributes to a table. Names have underscores; values are numbers (those beyond 2^53 as
/// text), texts, names of entries, lists of the names of bits, true for a flag, bytes as a string,
/// tables for nests, and lists for attributes that may occur more than once. An attribute that the
/// scope does not know has its number as name, and bytes as value.
[[nodiscard]] nlohmann::json to_table(const wire::netlink_attributes& attributes,
                                      const scope& scope);

/// Writes such a table; names may also have dashes, and numbers may replace names. A list writes
/// its attribute once per element. Errors: invalid_argument, whose reason names the attribute.
[[nodiscard]] result<void> put_table(wire::netlink_writer& writer, const nlohmann::json& table,
                                     const scope& scope);

}  // namespace strata::ynl
