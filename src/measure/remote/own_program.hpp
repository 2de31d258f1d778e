// This program's own files, as they can be copied to another machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "strata/base/result.hpp"

namespace strata::measure {

/// The executable that runs, also after its file was replaced.
inline constexpr const char* own_program = "/proc/self/exe";

struct shared_library {
  std::string file;
  std::string name;  ///< by which the loader looks for it
};

/// Those that this program was linked with, except the C library's, which only fit its own loader.
[[nodiscard]] std::vector<shared_library> own_libraries();

/// What POSIX's cksum prints of this program: "CHECKSUM SIZE".
[[nodiscard]] result<std::string> own_checksum();

}  // namespace strata::measure
