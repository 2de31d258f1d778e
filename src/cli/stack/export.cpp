// strata export: runtimes as a stack.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/daemon_client/control_client.hpp"
#include "cli/daemon_client/names.hpp"
#include "cli/stack/rows.hpp"
#include "cli/terminal/listing.hpp"
#include "cli/terminal/output.hpp"
#include "cli/terminal/table.hpp"
#include "stack/membership.hpp"
#include "text/yaml_text.hpp"

namespace strata::cli {

using nlohmann::json;
using nlohmann::ordered_json;

namespace {

/// In a stack, '$' begins a variable.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char each : text) result.append(each == '$' ? 2 : 1, each);
  return result;
}

ordered_json described(const json& value) {
  if (value.is_string()) return escaped(value.get<std::string>());
  if (!value.is_array()) return value;
  auto list = ordered_json::array();
  for (const auto& each : value) list.push_back(described(each));
  return list;
}

/// The labels without that of the stack, which `up` sets.
json own_labels(const json& labels) {
  const auto begin = fmt::format("{}=", stack::stack_label);
  auto own = json::array();
  for (const auto& each : labels) {
    if (!each.is_string() || !each.get<std::string>().starts_with(begin)) own.push_back(each);
  }
  return own;
}

ordered_json description_of(const json& shown, const runtime::type_row& type,
                            std::vector<std::string>& secrets) {
  ordered_json description{{"type", type.name}};
  const auto& options = shown.at("options");
  for (const auto& row : type.rows()) {
    const std::string key(row.key);
    if (!options.contains(key)) continue;
    const auto value = row.key == "label" ? own_labels(options[key]) : options[key];
    if (stack::is_default(row, value)) continue;
    if (options::is_plain_secret(row, value)) {
      secrets.push_back(fmt::format("{} of '{}'", row.key, text_at(shown, "name")));
    } else {
      description[key] = described(value);
    }
  }
  if (text_at(shown, "state") != "running") description["start"] = false;
  return description;
}

std::string name_of(const invocation& call, const std::set<std::string>& stacks) {
  if (auto given = call.text("name"); !given.empty()) return given;
  return stacks.size() == 1 && !stacks.begin()->empty() ? *stacks.begin() : "exported";
}

}  // namespace

outcome<int> run_export(const invocation& call) {
  control_client client(call.daemon);
  const auto words = call.words.empty() ? std::vector<std::string>{"*"} : call.words;
  const auto all = for_each_name(
      client, words, [&](const std::string& name) { return client.get(runtime_target(name)); });
  if (!all) return std::unexpected(all.error());
  auto runtimes = ordered_json::object();
  std::vector<std::string> secrets;
  std::set<std::string> stacks;
  for (const auto& shown : all->answers) {
    const auto* const type = runtime::find_type(text_at(shown, "type"));
    if (type == nullptr || !shown.contains("options")) {
      complain(fmt::format("'{}' is left out: this program has no type '{}'",
                           text_at(shown, "name"), text_at(shown, "type")));
      continue;
    }
    stacks.insert(stack::stack_of(shown.at("options")));
    runtimes[text_at(shown, "name")] = description_of(shown, *type, secrets);
  }
  const ordered_json document{{"name", name_of(call, stacks)}, {"runtimes", std::move(runtimes)}};
  if (call.as_json) {
    print(document.dump(2) + "\n");
  } else {
    print(text::to_yaml(document));
  }
  if (!secrets.empty()) {
    complain(
        fmt::format("left out, since the daemon does not show secrets: {}; 'strata up' leaves "
                    "them as they are",
                    fmt::join(secrets, ", ")));
  }
  return all->exit;
}

}  // namespace strata::cli
