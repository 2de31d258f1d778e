// Reads the text of a script's file.
#pragma once

#include <string>

#include "strata/base/result.hpp"

namespace strata::script {

/// Longer files are rejected.
inline constexpr std::size_t longest_source = 4U << 20U;

/// Reads a source file. Errors, which name the file: those of the system, and invalid_argument for
/// a file that is not regular, too long, or compiled.
[[nodiscard]] result<std::string> read_source(const std::string& path);
/// As `read_source`, for a path below `folder`; nothing outside of the folder is read, whatever a
/// link refers to. Errors: also not_found if there is no such file.
[[nodiscard]] result<std::string> read_source_below(const std::string& folder,
                                                    const std::string& relative);

}  // namespace strata::script
