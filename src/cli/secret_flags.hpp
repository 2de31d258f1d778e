// Flags whose value says where a secret is.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>

#include "cli/line/outcome.hpp"
#include "options/option_table.hpp"

namespace strata::cli {

/// Replaces the references in `flags` by the secrets themselves, as `named_secret` reads them:
/// later code, and the daemon, do not see a difference. `rows` are those of the flags. Errors:
/// failed, with the flag and where the secret should be; misused, if two flags need the first line
/// of standard input.
[[nodiscard]] outcome<> read_secrets(nlohmann::json& flags,
                                     std::span<const options::option_row> rows);

}  // namespace strata::cli
