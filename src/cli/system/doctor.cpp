// strata doctor
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "cli/daemon_client/control_client.hpp"
#include "cli/system/checks.hpp"
#include "cli/system/rows.hpp"
#include "cli/terminal/listing.hpp"
#include "cli/terminal/output.hpp"
#include "cli/terminal/table.hpp"
#include "options/locations.hpp"
#include "options/own_folder.hpp"
#include "text/readable.hpp"

namespace strata::cli {

using nlohmann::json;

namespace {

std::string_view name_of(check_status status) {
  switch (status) {
    case check_status::ok: return "ok";
    case check_status::warn: return "warn";
    case check_status::fail: return "fail";
  }
  return "fail";
}

json certificates_of(const json& answer) { return answer.value("certificates", json::array()); }

/// Checks the daemon, and its certificates and those of its runtimes.
std::vector<check> check_daemon(const daemon_address& daemon) {
  control_client client(daemon);
  const auto version = client.get("/v1/version");
  if (!version) return {{check_status::warn, "daemon", version.error().message, ""}};
  if (!version->is_object()) return {};
  std::vector<certificate_owner> owners{{"the daemon", certificates_of(*version)}};
  std::vector<check> warnings;
  const auto runtimes = client.get("/v1/runtimes");
  for (const auto& each : runtimes && runtimes->is_array() ? *runtimes : json::array()) {
    const auto name = text_at(each, "name");
    if (const auto warning = text_at(each, "warning"); !warning.empty()) {
      warnings.push_back({check_status::warn, fmt::format("'{}'", name), warning,
                          fmt::format("see its log: strata logs {}", name)});
    }
    const auto detail = client.get(runtime_target(name));
    if (detail && detail->is_object()) {
      owners.push_back({fmt::format("'{}'", name), certificates_of(*detail)});
    }
  }
  auto checks = certificate_checks(owners);
  std::ranges::move(warnings, std::back_inserter(checks));
  checks.push_back({{},
                    "daemon",
                    fmt::format("version {} at {}", text_at(*version, "version"), daemon.socket),
                    ""});
  return checks;
}

check check_socket(const std::string& socket) {
  auto usual = check_folder("socket folder", options::folder_of(socket), "--socket");
  const auto trusted = options::check_socket_folder(socket);
  if (usual.status != check_status::ok || trusted || trusted.error().code == errc::not_found) {
    return usual;
  }
  auto why = trusted.error();
  const auto remedy = std::exchange(why.remedy, {});
  return {check_status::fail, usual.name, describe(why), remedy};
}

std::vector<check> all_checks(const invocation& call) {
  const auto paths = options::paths_for(options::current_path_environment());
  auto checks = kernel_checks();
  for (auto& more : network_checks()) checks.push_back(std::move(more));
  checks.push_back(
      check_folder("state folder", call.text("state_dir", paths.state_dir), "--state-dir"));
  checks.push_back(check_socket(call.daemon.socket));
  for (auto& more : check_daemon(call.daemon)) checks.push_back(std::move(more));
  return checks;
}

std::string render(const std::vector<check>& checks, const table_form& form) {
  std::vector<std::vector<std::string>> rows;
  if (form.has_header) rows.push_back({"STATUS", "CHECK", "FOUND"});
  for (const auto& [status, name, found, remedy] : checks) {
    rows.push_back({std::string(name_of(status)), name, text::printable(found)});
    if (!remedy.empty()) rows.push_back({"", "", "-> " + text::printable(remedy)});
  }
  return align(rows);
}

json to_json(const std::vector<check>& checks) {
  auto list = json::array();
  for (const auto& [status, name, found, remedy] : checks) {
    list.push_back(
        {{"status", name_of(status)}, {"name", name}, {"found", found}, {"remedy", remedy}});
  }
  return list;
}

}  // namespace

outcome<int> run_doctor(const invocation& call) {
  const auto checks = all_checks(call);
  if (call.quiet) {
    auto noticed = json::array();
    for (const auto& object : to_json(checks)) {
      if (object["status"] != "ok") noticed.push_back(object);
    }
    print_names(call, noticed);
  } else if (call.as_json) {
    print_json(to_json(checks));
  } else {
    print(render(checks, form_of_object(call)));
  }
  for (const auto& [status, name, found, remedy] : checks) {
    if (status == check_status::fail) return exit_failed;
  }
  return exit_done;
}

}  // namespace strata::cli
