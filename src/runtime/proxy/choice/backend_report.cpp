#include "runtime/proxy/choice/backend_report.hpp"

#include <nlohmann/json.hpp>

namespace strata::runtime::proxy {

namespace {

std::string_view state_of(const backend_report& of) {
  if (of.is.is_drained) return "drained";
  if (!of.is_known) return "unknown";
  if (of.is_down) return "down";
  return of.is_resting || of.current == circuit_state::open ? "resting" : "ready";
}

std::string_view name_of(circuit_state of) {
  if (of == circuit_state::closed) return "closed";
  return of == circuit_state::open ? "open" : "half-open";
}

nlohmann::json json_of(const backend_report& of) {
  nlohmann::json made = {{"backend", of.is.where()},
                         {"text", of.is.text},
                         {"route", of.route},
                         {"state", state_of(of)},
                         {"weight", of.is.weight},
                         {"backup", of.is.is_backup},
                         {"max", of.is.max},
                         {"now", of.connections},
                         {"total", of.chosen},
                         {"failed", of.failed},
                         {"circuit", name_of(of.current)}};
  const auto counted = values_of(of.counted, backend_table());
  for (std::size_t at = 0; at < counted.size(); ++at) {
    made[std::string(backend_table()[at].row.key)] = counted[at];
  }
  return made;
}

}  // namespace

nlohmann::json json_of(const std::vector<backend_report>& all) {
  auto made = nlohmann::json::array();
  for (const auto& each : all) made.push_back(json_of(each));
  return made;
}

}  // namespace strata::runtime::proxy
