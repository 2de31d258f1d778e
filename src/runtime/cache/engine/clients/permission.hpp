// What the clients of a cache may do: `--access`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace strata::runtime::cache {

struct command;

enum class permission : std::uint8_t {
  readonly,   ///< nothing that changes data or concerns other clients or the cache as a whole
  readwrite,  ///< data may change
  admin,      ///< everything
};

/// "readonly", "readwrite"; what is neither is `admin`.
[[nodiscard]] permission permission_of(std::string_view name);
/// Why it does not allow a command, as an error reply; nothing when it does.
[[nodiscard]] std::optional<std::string> denial(permission permission, const command& command);

}  // namespace strata::runtime::cache
