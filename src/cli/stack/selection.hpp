// Which runtimes a verb of stacks is for.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/daemon_client/control_client.hpp"
#include "cli/line/outcome.hpp"
#include "stack/document.hpp"

namespace strata::cli {

/// The runtimes that `words` name, with those that they need, in the document's order; all, without
/// words. Errors: not_found, with the nearest name.
[[nodiscard]] outcome<std::vector<stack::described_runtime>> select_runtimes(
    const stack::document& document, std::span<const std::string> words);

/// The names of the daemon's runtimes that belong to a stack. Errors: those of the daemon.
[[nodiscard]] outcome<std::vector<std::string>> members_of(control_client& client,
                                                           const std::string& stack);

}  // namespace strata::cli
