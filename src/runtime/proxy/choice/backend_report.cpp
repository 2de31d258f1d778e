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

// The last are the figures of `backend_table`.
std::span<const answer_row> backend_answer_rows() {
  using enum answer_kind;
  static constexpr answer_row rows[] = {
      {"backend", text, "its URL", {}, "backend"},
      {"text", text, "as the option has it"},
      {"state", text, "how it stands", "ready|resting|down|drained|unknown", "state"},
      {"weight", count, "its share, beside those of the others", {}, "weight"},
      {"backup", flag, "it is chosen when no other can be", {}, "backup"},
      {"max", count, "connections, or requests, at a time; 0: any number", {}, "max"},
      {"now", count, "connections, or requests, that it has now", {}, "now"},
      {"total", count, "how often it was chosen", {}, "total"},
      {"failed", count, "how often it could not be reached, or broke off", {}, "failed"},
      {"retries",
       count,
       "HTTP requests that were sent to another, since this one broke off",
       {},
       "retries",
       true},
      {"answers", counts, "HTTP answers, by the class of their status", {}, "answers", true},
      {"latency", latency, "how long it took to answer", {}, "latency"},
      {"circuit", text, "whether it is given requests", "closed|half-open|open", "circuit"},
      {"route", text, "whose backend it is; empty: of --backend", {}, "route"},
  };
  return rows;
}

nlohmann::json json_of(const std::vector<backend_report>& all) {
  auto made = nlohmann::json::array();
  for (const auto& each : all) made.push_back(json_of(each));
  return made;
}

}  // namespace strata::runtime::proxy
