// Passwords and passphrases for the command line: they need not be arguments, which every user of
// the machine can see.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "strata/base/result.hpp"

namespace strata::cli {

struct secret_source {
  std::string prompt;             ///< for the terminal: `sudo password of me@there`
  std::string variable;           ///< environment variable that holds it
  std::optional<int> descriptor;  ///< open for reading; the secret is its first line
};

/// Reads the descriptor if there is one, else the variable, else the terminal, without echo.
/// Errors: not_found (no variable and no terminal), canceled (Ctrl-C or Ctrl-D).
[[nodiscard]] result<std::string> read_secret(const secret_source& source);

/// Returns the secret that a flag's value stands for: `@FILE` the first line of the file, `-` that
/// of standard input (nothing more is read, and a terminal does not echo it), `env:NAME` the
/// variable, `pass:TEXT` the text; anything else is the secret itself. `credential:NAME` is not
/// resolved: the user of the secret reads it. `flag` is for the prompt of a terminal. Errors: the
/// source has no secret, or its content cannot be one.
[[nodiscard]] result<std::string> named_secret(std::string_view value, const std::string& flag);

/// The forms that `named_secret` takes, for help.
inline constexpr std::string_view secret_forms =
    "the text itself; @FILE or - (standard input): its first line; env:VARIABLE: the variable's "
    "value; credential:NAME: the daemon reads it, and its unit needs LoadCredential=NAME:FILE; "
    "pass:TEXT: TEXT as it is, for a secret that begins like one of these";

}  // namespace strata::cli
