// strata start, stop, restart, reload and remove: one request for each name.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cli/daemon_client/control_client.hpp"
#include "cli/daemon_client/names.hpp"
#include "cli/daemon_client/report.hpp"
#include "cli/runtimes/rows.hpp"
#include "cli/terminal/listing.hpp"
#include "cli/terminal/output.hpp"
#include "cli/terminal/table.hpp"

namespace strata::cli {

using nlohmann::json;

namespace {

outcome<int> change_each(const invocation& call, control_client& client, const act_on_name& act) {
  const auto all = for_each_name(client, call.words, [&](const std::string& name) {
    auto answer = act(name);
    if (answer && !answer->is_null()) report_state(call, *answer);
    return answer;
  });
  if (!all) return std::unexpected(all.error());
  if (call.as_json) print_json(all->answers);
  return all->exit;
}

/// "stop?timeout=2.5" with the time from --timeout or --now.
std::string with_limit(const invocation& call, std::string target) {
  if (call.is_set("now")) return target + "?timeout=0";
  if (!call.flags.contains("timeout")) return target;
  return target + fmt::format("?timeout={}", call.flags["timeout"].get<double>());
}

outcome<int> post_each(const invocation& call, std::string_view action) {
  control_client client(call.daemon);
  return change_each(call, client, [&](const std::string& name) {
    return client.post(runtime_target(name, action));
  });
}

}  // namespace

outcome<int> run_start(const invocation& call) {
  return call.is_set("interactive") ? run_interactive(call) : post_each(call, "start");
}

outcome<int> run_stop(const invocation& call) { return post_each(call, with_limit(call, "stop")); }

outcome<int> run_restart(const invocation& call) {
  return post_each(call, with_limit(call, "restart"));
}

// A restart cuts connections: the user is warned before.
outcome<int> run_reload(const invocation& call) {
  control_client client(call.daemon);
  return change_each(call, client, [&](const std::string& name) -> outcome<json> {
    const auto now = client.get(runtime_target(name));
    if (now && now->at("state") == "running" && !now->value("pending", json::array()).empty()) {
      complain(fmt::format(
          "restarting '{}', which ends its {} connections: edits wait for a restart ({})", name,
          now->at("connections").dump(),
          fmt::join(now->at("pending").get<std::vector<std::string>>(), ", ")));
    }
    return client.post(runtime_target(name, "reload"));
  });
}

// A glob or a group selects only runtimes with a script.
outcome<int> run_reload_lua(const invocation& call) {
  control_client client(call.daemon);
  return change_each(call, client, [&](const std::string& name) -> outcome<json> {
    const bool is_named = std::ranges::find(call.words, name) != call.words.end();
    const auto detail = is_named ? outcome<json>() : client.get(runtime_target(name));
    const bool is_skipped =
        !is_named && detail && text_at(detail->value("options", json()), "lua").empty();
    return is_skipped ? json() : client.ask(name, "reload-lua");
  });
}

outcome<int> run_remove(const invocation& call) {
  control_client client(call.daemon);
  return change_each(call, client, [&](const std::string& name) -> outcome<json> {
    auto gone = client.remove(with_limit(call, runtime_target(name)));
    if (!gone) return gone;
    return json{{"name", name}, {"state", "removed"}};
  });
}

}  // namespace strata::cli
