// INFO: figures about a cache, as sections of name:value lines.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace strata::runtime::cache {

class front;

/// Returns INFO's text; `sections` are INFO's arguments; none means the default ones.
[[nodiscard]] std::string write_info(front& front, std::span<const std::string_view> sections);

}  // namespace strata::runtime::cache
