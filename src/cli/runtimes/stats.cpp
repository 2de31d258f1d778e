// strata stats NAME|GLOB...
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

constexpr column columns[] = {
    {"name", "/name"},
    {"type", "/type", unit::none, false},
    {"state", "/state"},
    {"uptime", "/uptime_s", unit::seconds},
    {"connections", "/connections/now"},
    {"peak", "/connections/peak", unit::none, false},
    {"total", "/connections/total", unit::none, false},
    {"refused", "/connections/refused", unit::none, false},
    {"messages_in", "/messages/in"},
    {"messages_out", "/messages/out"},
    {"rate_in", "/rates/in_1s", unit::per_second},
    {"rate_out", "/rates/out_1s", unit::per_second},
    {"bytes_in", "/bytes/in", unit::bytes},
    {"bytes_out", "/bytes/out", unit::bytes},
    {"dropped", "/dropped", unit::total},
    {"errors", "/errors"},
    {"lag", "/loop/lag_us", unit::microseconds, false},
    {"lag_max", "/loop/lag_max_us", unit::microseconds, false},
};

unit unit_of(std::string_view field, const json&) {
  if (field == "uptime_s") return unit::seconds;
  if (field.starts_with("bytes.")) return unit::bytes;
  if (field.starts_with("rates.")) return unit::per_second;
  if (field.starts_with("loop.")) return unit::microseconds;
  return unit::none;
}

}  // namespace

outcome<int> run_stats(const invocation& call) {
  const auto shown = select_columns(columns, call.text("columns"));
  if (!shown) return std::unexpected(shown.error());
  control_client client(call.socket);
  const auto all = for_each_name(client, call.words, [&](const std::string& name) {
    return client.get(runtime_target(name, "stats"));
  });
  if (!all) return std::unexpected(all.error());
  const bool as_picked = call.quiet || !call.text("columns").empty();
  if (names_one(call) && !as_picked && !call.as_json) {
    for (const auto& answer : all->answers) print(render_object(answer, unit_of));
  } else if (names_one(call) && call.as_json && !call.quiet) {
    print_gathered(
        call, call.text("columns").empty() ? all->answers : keep_columns(*shown, all->answers));
  } else if (call.as_json || !all->answers.empty()) {
    show_list(call, *shown, all->answers);
  }
  return all->exit;
}

}  // namespace strata::cli
