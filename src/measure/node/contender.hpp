// Programs that are measured besides strata but are not part of it.
#pragma once

#include <filesystem>
#include <string_view>

namespace strata::measure {

/// Returns the program, or the folder of programs, of that name: beside this program, as in a build
/// tree, or else in libexec/strata of its installation prefix. Empty if neither exists.
[[nodiscard]] std::filesystem::path contender_path(std::string_view name);

}  // namespace strata::measure
