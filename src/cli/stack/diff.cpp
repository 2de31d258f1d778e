// strata diff: how runtimes differ from their description in a stack.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/stack/fleet.hpp"
#include "cli/stack/rows.hpp"
#include "cli/stack/selection.hpp"
#include "cli/stack/stack_source.hpp"
#include "cli/terminal/listing.hpp"
#include "stack/membership.hpp"

namespace strata::cli {

using nlohmann::json;

namespace {

// With the first one if there is more than one daemon.
constexpr column columns[] = {
    {"daemon", "/daemon"}, {"name", "/name"},       {"change", "/change"},
    {"option", "/option"}, {"present", "/present"}, {"desired", "/desired"},
};

json row_of(const deployment& deployment, const std::string& name, std::string_view change) {
  json row = {{"name", name},
              {"change", change},
              {"option", ""},
              {"present", nullptr},
              {"desired", nullptr}};
  if (!deployment.daemon().empty()) row["daemon"] = deployment.daemon();
  return row;
}

/// The value, unless it is a secret.
json shown_value(const runtime::type_row& type, const std::string& key, const json& value) {
  const auto row = std::ranges::find(type.rows(), key, &options::option_row::key);
  const bool is_hidden = row != type.rows().end() && options::is_plain_secret(*row, value);
  return is_hidden ? json("********") : value;
}

outcome<> compare(const fleet::placed_runtime& placed, const stack::document& document,
                  json& rows) {
  const auto& [described, deployment] = placed;
  const auto shown = deployment->find(described.desired.name);
  if (!shown) return std::unexpected(shown.error());
  const auto present = present_in(*shown);
  auto desired = described.desired;
  stack::join_stack(desired, document.name, present);
  const auto& type = *runtime::find_type(desired.type);
  const auto plan = stack::plan_for(type.rows(), desired, present);
  if (!plan) return refuse(exit_failed, message_of(plan.error()));
  if (plan->is_creation) {
    rows.push_back(row_of(*deployment, desired.name, "create"));
    return {};
  }
  for (const auto& [key, value] : plan->changes.items()) {
    auto row = row_of(*deployment, desired.name, "edit");
    row["option"] = key;
    row["present"] = shown_value(type, key, present->options.value(key, json()));
    row["desired"] = shown_value(type, key, value);
    rows.push_back(std::move(row));
  }
  if (plan->is_start) rows.push_back(row_of(*deployment, desired.name, "start"));
  return {};
}

}  // namespace

outcome<int> run_diff(const invocation& call) {
  const auto document = read_stack(call);
  if (!document) return std::unexpected(document.error());
  const auto selected = select_runtimes(*document, call.words);
  if (!selected) return std::unexpected(selected.error());
  fleet fleet(call, {.is_dry = true});
  if (auto found = fleet.find_daemons(*document); !found) return std::unexpected(found.error());
  const auto placed = fleet.place(*selected);
  if (!placed) return std::unexpected(placed.error());
  auto rows = json::array();
  for (const auto& each : *placed) {
    if (auto compared = compare(each, *document, rows); !compared) {
      return std::unexpected(compared.error());
    }
  }
  if (call.words.empty()) {
    const auto stale = fleet.stale_members();
    if (!stale) return std::unexpected(stale.error());
    for (const auto& each : *stale) rows.push_back(row_of(*each.deployment, each.name, "prune"));
  }
  const auto shown = std::span(columns).subspan(fleet.is_wide() ? 0 : 1);
  if (call.as_json || !rows.empty()) show_list(call, shown, rows);
  return rows.empty() ? exit_done : exit_failed;
}

}  // namespace strata::cli
