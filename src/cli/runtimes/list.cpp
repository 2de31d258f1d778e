// strata ls and strata ps
#include <fmt/format.h>

#include <algorithm>

#include "cli/daemon_client/control_client.hpp"
#include "cli/daemon_client/names.hpp"
#include "cli/runtimes/filter.hpp"
#include "cli/runtimes/rows.hpp"
#include "cli/terminal/listing.hpp"
#include "cli/terminal/output.hpp"
#include "cli/terminal/screen.hpp"
#include "cli/terminal/table.hpp"
#include "text/nearest.hpp"

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
    {"labels", "/labels", unit::none, false},
    {"created", "/created_at", unit::none, false},
    {"reason", "/reason", unit::none, false},
    {"warning", "/warning", unit::none, false},
};

// Appends each runtime's warning, shortened, to its state, where it is noticed.
void mark_warnings(json& runtimes) {
  for (auto& each : runtimes) {
    const auto warning = text_at(each, "warning");
    if (warning.empty()) continue;
    each["state"] = text_at(each, "state") + " (" + warning.substr(0, warning.find(':')) + ")";
  }
}

/// Keeps the runtimes that the words name, in the order of the list; all, if there are no words. An
/// unknown name is reported, and gives the exit code.
int keep_named(const std::vector<std::string>& words, json& runtimes) {
  if (words.empty()) return exit_done;
  const auto known = known_runtimes(runtimes);
  auto [names, failures] = expand(words, known);
  std::vector<std::string> all;
  all.reserve(known.size());
  for (const auto& each : known) all.push_back(each.name);
  for (const auto& name : names) {
    if (std::ranges::find(all, name) != all.end()) continue;
    failures.push_back(
        {exit_not_found, fmt::format("cannot find runtime '{}': no runtime has this name{}; see "
                                     "'strata ls'",
                                     name, text::did_you_mean(name, all))});
  }
  for (const auto& failed : failures) complain(failed.message);
  auto kept = json::array();
  for (auto& each : runtimes) {
    const bool is_named = std::ranges::find(names, text_at(each, "name")) != names.end();
    if (is_named) kept.push_back(std::move(each));
  }
  runtimes = std::move(kept);
  return failures.empty() ? exit_done : failures.front().exit;
}

/// An empty table does not help a new user. Only at a terminal: a script knows what it asked for.
void explain_nothing(const invocation& call, std::size_t all) {
  if (call.as_json || call.quiet || !has_screen()) return;
  if (all == 0) {
    complain("there are no runtimes yet; create one with: strata create server NAME -p 9000 -s");
  } else {
    complain(fmt::format("none of the {} runtime{} matches; 'strata ls' shows all runtimes", all,
                         all == 1 ? "" : "s"));
  }
}

outcome<int> list(const invocation& call, bool only_running) {
  const auto shown = select_columns(columns, call.text("columns"));
  if (!shown) return std::unexpected(shown.error());
  const auto filter = runtime_filter::parse(call.flags.value("filter", json::array()));
  if (!filter) return std::unexpected(filter.error());
  auto runtimes = control_client(call.daemon).get("/v1/runtimes");
  if (!runtimes) return std::unexpected(runtimes.error());
  if (!runtimes->is_array()) {
    return refuse(exit_failed, "unexpected answer from the daemon: not a list");
  }
  const auto all = runtimes->size();
  const int exit = keep_named(call.words, *runtimes);
  auto listed = json::array();
  for (const auto& runtime : *runtimes) {
    const bool is_wanted = !only_running || text_at(runtime, "state") == "running";
    if (is_wanted && filter->takes(runtime)) listed.push_back(runtime);
  }
  if (!call.as_json) mark_warnings(listed);
  show_list(call, *shown, listed);
  if (listed.empty() && exit == exit_done) explain_nothing(call, all);
  return exit;
}

}  // namespace

outcome<int> run_ls(const invocation& call) { return list(call, false); }

outcome<int> run_ps(const invocation& call) { return list(call, true); }

}  // namespace strata::cli
