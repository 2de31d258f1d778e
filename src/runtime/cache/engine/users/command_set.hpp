// Sets of commands, and the categories of access control lists as such sets.
#pragma once

#include <bitset>
#include <span>
#include <string_view>

namespace strata::runtime::cache {

/// By `command::index`; subcommands are members of their own.
using command_set = std::bitset<1024>;

/// Returns the set of all commands.
[[nodiscard]] const command_set& every_command();
/// Returns the names of the categories, without "@", in Redis's order.
[[nodiscard]] std::span<const std::string_view> acl_categories();
/// Finds a category by its name, ignoring case; null if there is none.
[[nodiscard]] const command_set* find_category(std::string_view name);

}  // namespace strata::runtime::cache
