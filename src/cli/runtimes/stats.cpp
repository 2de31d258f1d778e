// strata stats NAME|GLOB...
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

unit unit_of_row(const options::figure_row& row) {
  if (row.kind == options::figure_kind::rate) return unit::per_second;
  if (row.kind == options::figure_kind::latency) return unit::milliseconds;
  if (!row.cases.empty()) return unit::total;
  switch (row.unit) {
    case options::figure_unit::bytes: return unit::bytes;
    case options::figure_unit::microseconds: return unit::microseconds;
    case options::figure_unit::none: break;
  }
  return unit::none;
}

const std::vector<column>& all_columns() {
  // A column's pointer is a view.
  static const auto pointers = [] {
    std::vector<std::string> all;
    for (const auto& row : runtime::all_figures()) {
      const bool is_latency = row.kind == options::figure_kind::latency;
      all.push_back(json_pointer(row) + (is_latency ? "/p99_ms" : ""));
    }
    return all;
  }();
  static const auto columns = [] {
    std::vector<column> all = {{"name", "/name"},
                               {"type", "/type", unit::none, false},
                               {"state", "/state"},
                               {"uptime", "/uptime_s", unit::seconds}};
    auto pointer = pointers.begin();
    for (const auto& row : runtime::all_figures()) {
      const auto& at = *pointer++;
      if (!row.column.empty()) all.push_back({row.column, at, unit_of_row(row), !row.is_hidden});
    }
    return all;
  }();
  return columns;
}

unit unit_of_field(std::string_view field, const json&) {
  if (field == "uptime_s") return unit::seconds;
  const auto& rows = runtime::all_figures();
  const auto row = std::ranges::find(rows, field, &options::figure_row::key);
  return row == rows.end() ? unit::none : unit_of_row(*row);
}

// Removes what has a table of its own ('strata backends'), and what is for programs.
void leave_out_details(json& stats) {
  if (!stats.is_object()) return;
  for (const auto* const each : {"backends", "routes"}) stats.erase(each);
  const json::json_pointer latency("/http/latency");
  if (stats.contains(latency) && stats[latency].is_object()) stats[latency].erase("within_ms");
}

}  // namespace

outcome<int> run_stats(const invocation& call) {
  const auto shown = select_columns(all_columns(), call.text("columns"));
  if (!shown) return std::unexpected(shown.error());
  control_client client(call.daemon);
  auto all = for_each_name(client, call.words, [&](const std::string& name) {
    return client.get(runtime_target(name, "stats"));
  });
  if (!all) return std::unexpected(all.error());
  const bool as_picked = call.quiet || !call.text("columns").empty();
  if (names_one(call) && !as_picked && !call.as_json) {
    for (auto& answer : all->answers) {
      leave_out_details(answer);
      print(render_object(answer, unit_of_field, form_of_object(call)));
    }
  } else if (call.as_json || !all->answers.empty()) {
    show_list(call, *shown, all->answers);
  }
  return all->exit;
}

}  // namespace strata::cli
