// Structures of the C ABI that may grow: they begin with the size that their caller knows.
#pragma once

#include <algorithm>
#include <cstring>

namespace strata::abi {

/// Returns the given options (or NULL), with defaults for members that an older caller does not
/// know.
template <class Options>
[[nodiscard]] Options known(const Options* options, void (*set_defaults)(Options*)) {
  Options known;
  set_defaults(&known);
  if (options != nullptr) std::memcpy(&known, options, std::min(options->size, sizeof known));
  return known;
}

}  // namespace strata::abi
