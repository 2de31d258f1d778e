// Runtimes by name: where a URL `runtime://NAME` leads, and which are a group.
#pragma once

#include <string>
#include <vector>

#include "loop/loop.hpp"
#include "loop/task.hpp"
#include "net/endpoint_url.hpp"

namespace strata::net {

/// Of a group.
struct group_members {
  std::vector<std::string> names;     ///< in their order
  std::vector<std::string> circular;  ///< others, which connect to the one that asks
};

class directory {
 public:
  /// Where the runtime of that name listens now: at least one endpoint. To be called on `asking`,
  /// any loop of the process. Errors: not_found; conflict when it does not run, or listens nowhere
  /// that others can connect to.
  [[nodiscard]] virtual loop::task<result<std::vector<endpoint_url>>> find_endpoints(
      loop::loop& asking, std::string name) = 0;
  /// The runtimes of that group that run and listen, but the one for which it asks: `whose`. What
  /// one that connects to `whose` is given, by whatever way, would go round for ever, so that one
  /// is told of beside them. To be called as the other.
  [[nodiscard]] virtual loop::task<group_members> find_members(loop::loop& asking,
                                                               std::string whose,
                                                               std::string group) = 0;

 protected:
  ~directory() = default;
};

}  // namespace strata::net
