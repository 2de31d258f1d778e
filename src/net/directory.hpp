// Runtimes by name: where a URL `runtime://NAME` leads, and which are a group.
#pragma once

#include <string>
#include <vector>

#include "loop/loop.hpp"
#include "loop/task.hpp"
#include "net/endpoint_url.hpp"

namespace strata::net {

class directory {
 public:
  /// Where the runtime of that name listens now: at least one endpoint. To be called on `asking`,
  /// any loop of the process. Errors: not_found; conflict when it does not run, or listens nowhere
  /// that others can connect to.
  [[nodiscard]] virtual loop::task<result<std::vector<endpoint_url>>> find_endpoints(
      loop::loop& asking, std::string name) = 0;
  /// The runtimes of that group that run and listen, in the order of their names. To be called as
  /// the other.
  [[nodiscard]] virtual loop::task<std::vector<std::string>> find_members(loop::loop& asking,
                                                                          std::string group) = 0;

 protected:
  ~directory() = default;
};

}  // namespace strata::net
