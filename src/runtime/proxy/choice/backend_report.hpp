// How backends stand, for people.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "runtime/proxy/choice/backend.hpp"

namespace strata::runtime::proxy {

/// How a backend has fared with one gate.
struct backend_report {
  std::string route;  ///< empty: those of `--backend`
  backend_text is;
  bool is_known = true;  ///< else a name that leads nowhere yet
  bool is_resting = false;
  bool is_down = false;
  circuit_state current = circuit_state::closed;
  std::uint64_t connections = 0;
  std::uint64_t chosen = 0;
  std::uint64_t failed = 0;
  branch_figures counted;
};

/// As `strata backends` shows them.
[[nodiscard]] nlohmann::json json_of(const std::vector<backend_report>& all);

}  // namespace strata::runtime::proxy
