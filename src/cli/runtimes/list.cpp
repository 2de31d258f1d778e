// strata ls and strata ps
#include "cli/daemon_client/control_client.hpp"
#include "cli/runtimes/rows.hpp"
#include "cli/terminal/listing.hpp"
#include "cli/terminal/table.hpp"

namespace strata::cli {

using nlohmann::json;

namespace {

constexpr column columns[] = {
    {"name", "/name"},
    {"type", "/type"},
    {"state", "/state"},
    {"endpoints", "/endpoints"},
    {"connections", "/connections"},
    {"uptime", "/uptime_s", unit::seconds},
    {"group", "/group"},
    {"owner", "/owner"},
    {"created", "/created_at", unit::none, false},
    {"reason", "/reason", unit::none, false},
    {"warning", "/warning", unit::none, false},
};

// What is to be known of a runtime stands where nobody overlooks it, in short.
void mark_warnings(json& runtimes) {
  for (auto& each : runtimes) {
    const auto warning = text_at(each, "warning");
    if (warning.empty()) continue;
    each["state"] = text_at(each, "state") + " (" + warning.substr(0, warning.find(':')) + ")";
  }
}

outcome<int> list(const invocation& call, bool only_running) {
  const auto shown = select_columns(columns, call.text("columns"));
  if (!shown) return std::unexpected(shown.error());
  auto runtimes = control_client(call.socket).get("/v1/runtimes");
  if (!runtimes) return std::unexpected(runtimes.error());
  if (!runtimes->is_array()) {
    return refuse(exit_failed, "the daemon's answer is not what the API gives: no list");
  }
  auto listed = json::array();
  for (const auto& runtime : *runtimes) {
    if (!only_running || text_at(runtime, "state") == "running") listed.push_back(runtime);
  }
  if (!call.as_json) mark_warnings(listed);
  show_list(call, *shown, listed);
  return exit_done;
}

}  // namespace

outcome<int> run_ls(const invocation& call) { return list(call, false); }

outcome<int> run_ps(const invocation& call) { return list(call, true); }

}  // namespace strata::cli
