// The state of backends, for display.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "runtime/operations.hpp"
#include "runtime/proxy/choice/backend.hpp"

namespace strata::runtime::proxy {

/// The state and figures of a backend in one gate.
struct backend_report {
  std::string route;  ///< empty: one of `--backend`
  backend_text is;
  bool is_known = true;  ///< false: a name without an address yet
  bool is_resting = false;
  bool is_down = false;
  check_outcome last_check = check_outcome::none;
  circuit_state current = circuit_state::closed;
  std::uint64_t connections = 0;
  std::uint64_t chosen = 0;
  std::uint64_t failed = 0;
  branch_figures counted;
};

/// In the form of `strata backends`.
[[nodiscard]] nlohmann::json json_of(const std::vector<backend_report>& all);
/// The members of each report.
[[nodiscard]] std::span<const answer_row> backend_answer_rows();

}  // namespace strata::runtime::proxy
