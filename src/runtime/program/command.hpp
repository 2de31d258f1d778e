// The command of a program: words on a line, quoted as in a shell, with places that each instance
// fills in.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "strata/base/result.hpp"

namespace strata::runtime::program {

/// Splits a command into words: blanks separate them, except within '…' and "…"; a backslash takes
/// the next character as it is, but not within '…'. Nothing else of a shell is known. Errors:
/// invalid_argument if a quote has no end, or there is no word.
[[nodiscard]] result<std::vector<std::string>> split_command(std::string_view command);

/// The values of one instance.
struct place_values {
  std::string name;  ///< the runtime's
  std::string port;  ///< empty: it has none
  unsigned instance = 1;
};

/// Replaces {name}, {port} and {instance}; {{ stands for {. Errors: invalid_argument for another
/// name in braces, and for {port} if there is none.
[[nodiscard]] result<std::string> with_places(std::string_view text, const place_values& values);

}  // namespace strata::runtime::program
