// The fill and the completion ring of one queue, shared by the sockets on it.
#pragma once

#include <string>

#include "strata/base/mapping.hpp"
#include "strata/xdp/ring.hpp"
#include "strata/xdp/umem.hpp"

namespace strata::xdp {

struct umem::queue_rings {
  int interface_index = 0;
  std::uint32_t queue = 0;
  std::string interface_name{};  // as it was at creation, for errors
  mapping fill_memory;
  mapping completion_memory;
  fill_ring fill;
  completion_ring completion;
};

}  // namespace strata::xdp
