// The permissions of a cache's clients: `--access`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace strata::runtime::cache {

struct command;

enum class permission : std::uint8_t {
  readonly,   ///< no commands that change data or concern other clients or the whole cache
  readwrite,  ///< also commands that change data
  admin,      ///< everything
};

/// Parses "readonly" or "readwrite"; anything else is `admin`.
[[nodiscard]] permission permission_of(std::string_view name);
/// Returns why a command is not permitted, as an error reply; nullopt if it is.
[[nodiscard]] std::optional<std::string> denial(permission permission, const command& command);

}  // namespace strata::runtime::cache
