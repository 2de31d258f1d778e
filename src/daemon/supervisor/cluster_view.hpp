// The cluster, as the runtimes and the users of this daemon see it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace strata::net {
class directory;
}

namespace strata::daemon {

/// For the home loop, except for the members of `names`.
class cluster_view {
 public:
  /// The names of all daemons.
  [[nodiscard]] virtual net::directory& names() = 0;
  /// Whether another daemon has a runtime for which `NAME` or `NAME@DAEMON` stands.
  [[nodiscard]] virtual bool has(const std::string& name) const = 0;
  /// The answer of `GET /v1/cluster`.
  [[nodiscard]] virtual nlohmann::json report() const = 0;
  /// A daemon that is drained stays in the cluster, but the others no longer choose its runtimes as
  /// members of a group or by their names alone.
  virtual void set_drained(bool is_drained) = 0;

 protected:
  ~cluster_view() = default;
};

}  // namespace strata::daemon
