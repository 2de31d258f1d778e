// The compiled XDP program, as the build put it into the library.
#pragma once

#include <cstddef>

namespace strata::xdp {

extern const unsigned char filter_object[];
extern const std::size_t filter_object_size;

}  // namespace strata::xdp
