// strata show and strata owner
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

/// The type's table says which options are sizes and times.
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

void show_objects(const invocation& call, const json& objects,
                  unit (*unit_of)(std::string_view, const json&)) {
  if (call.quiet) return print_names(call, objects);
  if (call.as_json) return print_json(objects);
  std::string text;
  for (const auto& object : objects) {
    if (!text.empty()) text += '\n';
    text += render_object(object, unit_of, form_of_object(call));
  }
  print(text);
}

}  // namespace

outcome<int> run_show(const invocation& call) {
  control_client client(call.daemon);
  const auto all = for_each_name(client, call.words, [&](const std::string& name) {
    return client.get(runtime_target(name));
  });
  if (!all) return std::unexpected(all.error());
  show_objects(call, all->answers, unit_of);
  return all->exit;
}

outcome<int> run_owner(const invocation& call) {
  control_client client(call.daemon);
  const auto all = for_each_name(client, call.words, [&](const std::string& name) -> outcome<json> {
    const auto detail = client.get(runtime_target(name));
    if (!detail) return std::unexpected(detail.error());
    json kin = json::object();
    for (const auto* key : {"name", "owner", "on_parent_stop", "children"}) {
      kin[key] = detail->is_object() && detail->contains(key) ? detail->at(key) : json{};
    }
    return kin;
  });
  if (!all) return std::unexpected(all.error());
  show_objects(call, all->answers, [](std::string_view, const json&) { return unit::none; });
  return all->exit;
}

}  // namespace strata::cli
