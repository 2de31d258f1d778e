// How backends stand, for people.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "runtime/operations.hpp"
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
/// What each has there.
[[nodiscard]] std::span<const answer_row> backend_answer_rows();

}  // namespace strata::runtime::proxy
