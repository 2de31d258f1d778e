// Programs that are measured beside strata, and are not it.
#pragma once

#include <filesystem>
#include <string_view>

namespace strata::measure {

/// The program, or the folder of programs, of that name: beside this program, as a build tree has
/// it, or else in libexec/strata of the prefix in which it is installed. Empty when in neither.
[[nodiscard]] std::filesystem::path contender_path(std::string_view name);

}  // namespace strata::measure
