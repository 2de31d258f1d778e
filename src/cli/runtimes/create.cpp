// strata create TYPE NAME
#include <fmt/format.h>

#include "cli/daemon_client/control_client.hpp"
#include "cli/daemon_client/report.hpp"
#include "cli/runtimes/rows.hpp"
#include "cli/terminal/listing.hpp"
#include "cli/terminal/output.hpp"
#include "cli/terminal/table.hpp"
#include "text/nearest.hpp"
#include "text/readable.hpp"

namespace strata::cli {

outcome<const runtime::type_row*> type_by_name(const std::string& type, const daemon_address&) {
  if (const auto* found = runtime::find_type(type)) return found;
  std::vector<std::string> known;
  for (const auto& row : runtime::types()) known.emplace_back(row.name);
  return refuse(exit_misused, fmt::format("there is no type '{}'{}; there are {}", type,
                                          text::did_you_mean(type, known), fmt::join(known, ", ")));
}

outcome<> check_target(const nlohmann::json& options) {
  const auto target = text_at(options, "target");
  if (!target.contains("://")) return {};
  return refuse(exit_misused,
                fmt::format("--target takes HOST:PORT, but '{0}' is a URL: write -c {0}", target));
}

outcome<int> create_runtime(const invocation& call, const std::string& type,
                            const std::string& name, const nlohmann::json& options) {
  control_client client(call.daemon);
  const bool is_dry = call.is_set("dry_run");
  // A dry run also checks what a start needs.
  const nlohmann::json body = {{"type", type},
                               {"name", name},
                               {"options", options},
                               {"start", call.is_set("start") || is_dry},
                               {"dry_run", is_dry}};
  const auto created = client.post("/v1/runtimes", body);
  if (!created) return std::unexpected(created.error());
  if (is_dry && !call.as_json && !call.quiet) {
    const auto warning = text_at(*created, "warning");
    print(fmt::format("{}: could be created{}{}\n", name,
                      warning.empty() ? "" : "; warning: ", text::printable(warning)));
    return exit_done;
  }
  report_state(call, *created);
  if (call.as_json) print_json(*created);
  return exit_done;
}

outcome<int> run_create(const invocation& call) {
  if (auto checked = check_target(call.type_options); !checked) {
    return std::unexpected(checked.error());
  }
  return create_runtime(call, call.words[0], call.words[1], call.type_options);
}

}  // namespace strata::cli
