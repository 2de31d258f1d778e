// Structures of the C ABI that may grow: they begin with the size that their user knows.
#pragma once

#include <algorithm>
#include <cstring>

namespace strata::abi {

/// What is given (or NULL), and the defaults of what a caller of an older version does not know.
template <class Options>
[[nodiscard]] Options known(const Options* options, void (*set_defaults)(Options*)) {
  Options known;
  set_defaults(&known);
  if (options != nullptr) std::memcpy(&known, options, std::min(options->size, sizeof known));
  return known;
}

}  // namespace strata::abi
