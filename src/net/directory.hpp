// Runtimes by name: where a URL `runtime://NAME` leads, and which runtimes form a group.
#pragma once

#include <string>
#include <vector>

#include "loop/loop.hpp"
#include "loop/task.hpp"
#include "net/endpoint_url.hpp"

namespace strata::net {

/// The members of a group.
struct group_members {
  std::vector<std::string> names;     ///< in the group's order
  std::vector<std::string> circular;  ///< other members, which connect to the asking runtime
};

class directory {
 public:
  /// Returns where the runtime `name` listens now: at least one endpoint. Call it on `asking`,
  /// which may be any loop of the process. Errors: not_found; conflict if the runtime does not run,
  /// or does not listen anywhere that others can connect to.
  [[nodiscard]] virtual loop::task<result<std::vector<endpoint_url>>> find_endpoints(
      loop::loop& asking, std::string name) = 0;
  /// Returns the members of `group` that run and listen, without `whose`, the runtime that asks.
  /// Data for a member that connects back to `whose`, directly or not, would circulate for ever, so
  /// such members are listed apart as `circular`. Call it as `find_endpoints`.
  [[nodiscard]] virtual loop::task<group_members> find_members(loop::loop& asking,
                                                               std::string whose,
                                                               std::string group) = 0;

 protected:
  ~directory() = default;
};

}  // namespace strata::net
