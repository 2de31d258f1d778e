// The command that the words of a call name.
#pragma once

#include <span>
#include <string_view>

#include "runtime/cache/engine/command.hpp"

namespace strata::runtime::cache {

/// Returns the command, or the subcommand if the first word names a container of subcommands. Null
/// if there is none.
[[nodiscard]] inline const command* find_called_command(std::span<const std::string_view> words) {
  const auto* const found = find_command(words[0]);
  if (found == nullptr || found->row->subcommands.empty() || words.size() < 2) return found;
  return find_subcommand(*found, words[1]);
}

}  // namespace strata::runtime::cache
