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

std::string_view name_of(check_outcome outcome) {
  if (outcome == check_outcome::none) return "none";
  return outcome == check_outcome::passed ? "passed" : "failed";
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
                         {"check", name_of(report.last_check)},
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

// The last rows are the figures of `backend_table`.
std::span<const answer_row> backend_answer_rows() {
  using enum answer_kind;
  static constexpr answer_row rows[] = {
      {.key = "backend", .help = "URL of the backend", .column = "backend"},
      {.key = "text", .help = "text of the backend in the option"},
      {.key = "state",
       .help = "state of the backend",
       .choices = "ready|resting|down|drained|unknown",
       .column = "state"},
      {.key = "check",
       .help = "outcome of the last health check; none: not checked yet, or without --check",
       .choices = "none|passed|failed",
       .is_hidden = true},
      {.key = "weight",
       .help = "weight relative to the other backends",
       .column = "weight",
       .kind = count},
      {.key = "backup",
       .help = "whether it is used only when no other can be",
       .column = "backup",
       .kind = flag},
      {.key = "max",
       .help = "most connections or requests at the same time; 0 means no limit",
       .column = "max",
       .kind = count},
      {.key = "now", .help = "current connections or requests", .column = "now", .kind = count},
      {.key = "total", .help = "how often it was chosen", .column = "total", .kind = count},
      {.key = "failed",
       .help = "how often it could not be reached or broke off",
       .column = "failed",
       .kind = count},
      {.key = "retries",
       .help = "HTTP requests sent to another backend because this one broke off",
       .column = "retries",
       .kind = count,
       .is_hidden = true},
      {.key = "answers",
       .help = "HTTP answers, by the class of their status",
       .column = "answers",
       .kind = counts,
       .is_hidden = true},
      {.key = "latency", .help = "time to answer", .column = "latency", .kind = latency},
      {.key = "circuit",
       .help = "circuit breaker; an open circuit gets no requests",
       .choices = "closed|half-open|open",
       .column = "circuit"},
      {.key = "route",
       .help = "route that the backend belongs to; empty: --backend",
       .column = "route"},
  };
  return rows;
}

nlohmann::json json_of(const std::vector<backend_report>& all) {
  auto made = nlohmann::json::array();
  for (const auto& each : all) made.push_back(json_of(each));
  return made;
}

}  // namespace strata::runtime::proxy
