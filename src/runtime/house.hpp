// What the script of one runtime may ask of the others.
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

enum class house_verb : std::uint8_t {
  list,
  get,
  stats,
  create,
  start,
  stop,
  remove,
  edit,
  ask,
};

struct house_order {
  house_verb verb = house_verb::list;
  std::string name = {};  ///< of the runtime that it is about
  /// Of `create` the type, the options and whether it starts; of `edit` the options; of `ask` the
  /// operation, its parameters and its body.
  nlohmann::json details = {};
  std::string by = {};  ///< the runtime whose script asks: the owner of what it creates
  /// Of that script: what it creates and edits has no more. None: the runtime itself asks, by what
  /// its own clients have set.
  std::optional<script_rights> rights = {};
};

class house {
 public:
  /// From any loop. Errors: those of the daemon's operations.
  virtual loop::task<result<nlohmann::json>> obey(loop::loop& asking, house_order order) = 0;

  /// What happens to them. From any thread.
  [[nodiscard]] virtual journal& events() = 0;
  /// Where they listen.
  [[nodiscard]] virtual net::directory& names() = 0;

 protected:
  ~house() = default;
};

}  // namespace strata::runtime
