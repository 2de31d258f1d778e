// Passwords and passphrases, as they come to the command line: never among its arguments, which
// every user of the machine can see.
#pragma once

#include <optional>
#include <string>

#include "strata/base/result.hpp"

namespace strata::cli {

struct secret_source {
  std::string prompt;             ///< for the terminal: `sudo password of me@there`
  std::string variable;           ///< of the environment, which holds it
  std::optional<int> descriptor;  ///< open for reading, with the secret as its first line
};

/// From the descriptor if there is one, else from the variable, else from the terminal, which does
/// not show it. Errors: not_found (no variable and no terminal), canceled (Ctrl-C or Ctrl-D).
[[nodiscard]] result<std::string> read_secret(const secret_source& from);

}  // namespace strata::cli
