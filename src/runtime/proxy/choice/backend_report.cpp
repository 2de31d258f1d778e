#include "runtime/proxy/choice/backend_report.hpp"

#include <nlohmann/json.hpp>

namespace strata::runtime::proxy {

namespace {

std::string_view state_of(const backend_report& report) {
  if (report.is.is_drained) return "drained";
  if (!report.is_known) return "unknown";
  if (report.is_down) return "down";
  return report.is_resting || report.current == circuit_state::open ? "resting" : "ready";
}

std::string_view name_of(circuit_state state) {
  if (state == circuit_state::closed) return "closed";
  return state == circuit_state::open ? "open" : "half-open";
}

nlohmann::json json_of(const backend_report& report) {
  nlohmann::json made = {{"backend", report.is.where()},
                         {"text", report.is.text},
                         {"route", report.route},
                         {"state", state_of(report)},
                         {"weight", report.is.weight},
                         {"backup", report.is.is_backup},
                         {"max", report.is.max},
                         {"now", report.connections},
                         {"total", report.chosen},
                         {"failed", report.failed},
                         {"circuit", name_of(report.current)}};
  const auto counted = values_of(report.counted, backend_table());
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
