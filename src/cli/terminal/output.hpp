// Standard output and standard error of the verbs.
#pragma once

#include <string_view>

namespace strata::cli {

/// Writes all of `text` to standard output now. If the reader has gone (EPIPE) the process ends
/// quietly with exit code 0; any other failure (a full disk) ends it with a message and 1: its
/// output can no longer be delivered.
void print(std::string_view text);

/// Writes "strata: MESSAGE" to standard error.
void complain(std::string_view message);
/// The same for a message of several lines: the later ones are indented.
void complain_in_lines(std::string_view message);

}  // namespace strata::cli
