// This program's own files, to be copied to another machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "strata/base/result.hpp"

namespace strata::measure {

/// The running executable, even after its file was replaced.
inline constexpr const char* own_program = "/proc/self/exe";

struct shared_library {
  std::string file;
  std::string name;  ///< by which the loader finds it
};

/// Returns the libraries with which this program is linked, except those of the C library, which
/// only fit its own loader.
[[nodiscard]] std::vector<shared_library> own_libraries();

/// Returns the output of POSIX's cksum for this program: "CHECKSUM SIZE".
[[nodiscard]] result<std::string> own_checksum();

}  // namespace strata::measure
