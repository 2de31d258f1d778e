// strata show NAME|GLOB... and strata owner NAME
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

/// Sizes and times among the options are those that the type's table calls so.
unit unit_of(std::string_view field, const json& detail) {
  if (field == "uptime_s") return unit::seconds;
  constexpr std::string_view options = "options.";
  const auto* type = runtime::find_type(text_at(detail, "type"));
  if (type == nullptr || !field.starts_with(options)) return unit::none;
  for (const auto& row : type->rows()) {
    if (row.key != field.substr(options.size())) continue;
    if (row.kind == options::option_kind::bytes) return unit::bytes;
    if (row.kind == options::option_kind::seconds) return unit::seconds;
  }
  return unit::none;
}

std::string render_all(const json& answers, const table_form& form) {
  std::string text;
  for (const auto& answer : answers) {
    if (!text.empty()) text += '\n';
    text += render_object(answer, unit_of, form);
  }
  return text;
}

}  // namespace

outcome<int> run_show(const invocation& call) {
  control_client client(call.socket);
  const auto all = for_each_name(client, call.words, [&](const std::string& name) {
    return client.get(runtime_target(name));
  });
  if (!all) return std::unexpected(all.error());
  if (call.quiet) {
    print_names(call, all->answers);
  } else if (call.as_json) {
    print_gathered(call, all->answers);
  } else {
    print(render_all(all->answers, form_of_object(call)));
  }
  return all->exit;
}

outcome<int> run_owner(const invocation& call) {
  const auto detail = control_client(call.socket).get(runtime_target(call.words[0]));
  if (!detail) return std::unexpected(detail.error());
  json kin = json::object();
  for (const auto* key : {"name", "owner", "on_parent_stop", "children"}) {
    kin[key] = detail->is_object() && detail->contains(key) ? detail->at(key) : json{};
  }
  if (call.quiet) {
    print_names(call, json::array({kin}));
  } else if (call.as_json) {
    print_json(kin);
  } else {
    print(render_object(
        kin, [](std::string_view, const json&) { return unit::none; }, form_of_object(call)));
  }
  return exit_done;
}

}  // namespace strata::cli
