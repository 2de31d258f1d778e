// Passwords and passphrases, as they come to the command line: they need not be among its
// arguments, which every user of the machine can see.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "strata/base/result.hpp"

namespace strata::cli {

struct secret_source {
  std::string prompt;             ///< for the terminal: `sudo password of me@there`
  std::string variable;           ///< of the environment, which holds it
  std::optional<int> descriptor;  ///< open for reading, with the secret as its first line
};

/// From the descriptor if there is one, else from the variable, else from the terminal, which does
/// not show it. Errors: not_found (no variable and no terminal), canceled (Ctrl-C or Ctrl-D).
[[nodiscard]] result<std::string> read_secret(const secret_source& source);

/// The secret that a flag's value stands for: `@FILE` the first line of the file, `-` that of
/// standard input, of which nothing more is read and which a terminal does not show, `env:NAME` the
/// variable, `pass:TEXT` the text; anything else is the secret itself. `credential:NAME` stays as
/// it is: whoever uses the secret reads it. `flag` is what a terminal is asked for. Errors: where
/// it should come from there is none, or what is there can be no secret.
[[nodiscard]] result<std::string> named_secret(std::string_view value, const std::string& flag);

/// What `named_secret` takes, for help.
inline constexpr std::string_view secret_forms =
    "the text itself; @FILE or - (standard input): its first line; env:VARIABLE: the variable's "
    "value; credential:NAME: the daemon reads it, and its unit needs LoadCredential=NAME:FILE; "
    "pass:TEXT: TEXT as it is, for a secret that begins like one of these";

}  // namespace strata::cli
