// Runtimes by name: where a URL `runtime://NAME` leads, and which runtimes form a group.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "loop/loop.hpp"
#include "loop/task.hpp"
#include "net/endpoint_url.hpp"

namespace strata::net {

/// The runtimes behind a place.
struct place_members {
  /// In the group's order. `NAME#2` is the second instance of a runtime that has instances.
  std::vector<std::string> names;
  std::vector<std::string> circular;  ///< other members, which connect to the watching runtime
  /// Those of `names` on other daemons of the zone of this one.
  std::vector<std::string> neighbours = {};
  bool operator==(const place_members&) const = default;
};

class directory {
 public:
  /// A watch of a place. Destroying it, on its loop's thread, ends it.
  class watch {
   public:
    watch() = default;
    watch(const watch&) = delete;
    watch& operator=(const watch&) = delete;
    virtual ~watch() = default;
  };

  /// Returns where the runtime, or instance, `name` listens now: at least one endpoint. `@GROUP`:
  /// the endpoints of its members, the nearest first; each call begins with another one of those.
  /// Call it on `asking`, which may be any loop of the process. Errors: not_found; conflict if the
  /// runtime does not run, or does not listen anywhere that others can connect to.
  [[nodiscard]] virtual loop::task<result<std::vector<endpoint_url>>> find_endpoints(
      loop::loop& asking, std::string name) = 0;

  /// Calls `on_members` with what is behind `place`: soon, and after each change. `@GROUP`: the
  /// members of the group that run and listen, each open instance by itself, without `watcher`, the
  /// runtime that asks. `NAME`: the open instances of that runtime; the name itself, whether it
  /// runs or not, if it has none. Call it on `asking`, which may be any loop of the process and on
  /// which `on_members` is called.
  ///
  /// Data for a member that connects back to `watcher`, directly or not, would circulate for ever,
  /// so such members are listed apart as `circular`.
  [[nodiscard]] virtual std::unique_ptr<watch> watch_members(
      loop::loop& asking, std::string watcher, std::string place,
      std::function<void(place_members)> on_members) = 0;

 protected:
  ~directory() = default;
};

}  // namespace strata::net
