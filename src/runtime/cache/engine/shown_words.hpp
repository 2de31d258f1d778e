// A command's words as MONITOR and SLOWLOG show them to others: without passwords.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "runtime/cache/engine/command.hpp"

namespace strata::runtime::cache {

/// Views of `words`, which must outlive them.
[[nodiscard]] std::vector<std::string_view> shown_words(const command& what,
                                                        std::span<const std::string_view> words);

}  // namespace strata::runtime::cache
