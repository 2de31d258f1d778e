// Flags whose value says where a secret is.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>

#include "cli/line/outcome.hpp"
#include "options/option_table.hpp"

namespace strata::cli {

/// Puts the secrets themselves in the place of what the values of `flags` say of them, as
/// `named_secret` reads it: nothing behind here knows the difference, and the daemon least of all.
/// `rows` are those of the flags. Errors: failed, with the flag and where the secret should be;
/// misused, when two flags want the one first line of standard input.
[[nodiscard]] outcome<> read_secrets(nlohmann::json& flags,
                                     std::span<const options::option_row> rows);

}  // namespace strata::cli
