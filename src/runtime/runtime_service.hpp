// The requests of a runtime's script about other runtimes.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "loop/loop.hpp"
#include "runtime/options/script_rights.hpp"

namespace strata::net {
class directory;
}

namespace strata::runtime {

class journal;

enum class service_verb : std::uint8_t {
  list,
  get,
  stats,
  create,
  start,
  stop,
  remove,
  edit,
  ask,
  cluster,  ///< the daemons of the cluster with their runtimes, as `GET /v1/cluster` returns them
};

struct service_request {
  service_verb verb = service_verb::list;
  std::string name = {};  ///< the runtime that the request is about
  /// For `create` the type, the options and whether it starts; for `edit` the options; for `ask`
  /// the operation, its parameters and its body.
  nlohmann::json details = {};
  std::string by = {};  ///< the runtime of the script: owner of what the script creates
  /// The script's rights: what it creates and edits gets no more. Unset: the runtime itself sends
  /// the request, set up by its own clients.
  std::optional<script_rights> rights = {};
};

class runtime_service {
 public:
  /// Carries out a request. From any loop. Errors: those of the daemon's operations.
  virtual loop::task<result<nlohmann::json>> perform(loop::loop& asking,
                                                     service_request request) = 0;

  /// The events of the runtimes. From any thread.
  [[nodiscard]] virtual journal& events() = 0;
  /// Where the runtimes listen.
  [[nodiscard]] virtual net::directory& names() = 0;

 protected:
  ~runtime_service() = default;
};

}  // namespace strata::runtime
