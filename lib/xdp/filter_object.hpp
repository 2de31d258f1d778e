// The compiled XDP program, embedded in the library by the build.
#pragma once

#include <cstddef>

namespace strata::xdp {

extern const unsigned char filter_object[];
extern const std::size_t filter_object_size;

}  // namespace strata::xdp
