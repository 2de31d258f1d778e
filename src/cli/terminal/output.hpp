// Standard output and standard error of the verbs.
#pragma once

#include <string_view>

namespace strata::cli {

/// Writes all of `text` to standard output now. When the reader has gone (EPIPE) the process ends
/// quietly with exit code 0; any other failure (a full disk) ends it with a message and 1: there
/// is nobody left to work for.
void print(std::string_view text);

/// "strata: MESSAGE" on standard error.
void complain(std::string_view message);
/// The same of one with several lines: those behind the first are set in.
void complain_in_lines(std::string_view message);

}  // namespace strata::cli
