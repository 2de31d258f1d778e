// Where a runtime listens: its endpoint URLs, with their addresses found.
#pragma once

#include <string>
#include <vector>

#include "loop/loop.hpp"
#include "net/endpoint_url.hpp"

namespace strata::runtime {

struct bind_target {
  net::endpoint_url url;
  loop::socket_address address;  ///< none for raw Ethernet

  /// As it is shown once it is bound: with the address and port that were taken.
  [[nodiscard]] std::string bound_text() const;
};

/// Of `endpoints`, which parse; each address once. Errors: of names that are not found.
[[nodiscard]] loop::task<result<std::vector<bind_target>>> find_bind_targets(
    loop::loop& on, std::vector<std::string> endpoints);

}  // namespace strata::runtime
