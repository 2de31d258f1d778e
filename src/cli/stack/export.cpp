// strata export: runtimes as a stack.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/daemon_client/control_client.hpp"
#include "cli/daemon_client/names.hpp"
#include "cli/stack/fleet.hpp"
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

/// Runtimes as a stack, of one daemon or of several.
class exported_stack {
 public:
  explicit exported_stack(const invocation& call) : call_(call) {}

  /// Adds the runtimes of a daemon. Errors: those of reaching it.
  outcome<> add(deployment& deployment);
  void show() const;
  [[nodiscard]] int exit() const { return exit_; }

 private:
  void add(const json& shown, const runtime::type_row& type, const std::string& daemon);
  [[nodiscard]] std::string name() const;

  const invocation& call_;
  int exit_ = exit_done;
  ordered_json runtimes_ = ordered_json::object();
  std::vector<std::string> secrets_;
  std::set<std::string> stacks_;
};

outcome<> exported_stack::add(deployment& deployment) {
  auto& client = deployment.client();
  const auto words = call_.words.empty() ? std::vector<std::string>{"*"} : call_.words;
  const auto all = for_each_name(
      client, words, [&](const std::string& name) { return client.get(runtime_target(name)); });
  if (!all) return std::unexpected(all.error());
  exit_ = std::max(exit_, all->exit);
  for (const auto& shown : all->answers) {
    const auto* const type = runtime::find_type(text_at(shown, "type"));
    if (type != nullptr && shown.contains("options")) {
      add(shown, *type, deployment.daemon());
      continue;
    }
    complain(fmt::format("'{}' is left out: this program has no type '{}'",
                         deployment.shown_name(text_at(shown, "name")), text_at(shown, "type")));
  }
  return {};
}

// A runtime that several daemons have alike is described once.
void exported_stack::add(const json& shown, const runtime::type_row& type,
                         const std::string& daemon) {
  const auto name = text_at(shown, "name");
  auto description = description_of(shown, type, secrets_);
  stacks_.insert(stack::stack_of(shown.at("options")));
  if (daemon.empty()) {
    runtimes_[name] = std::move(description);
    return;
  }
  const auto known = runtimes_.find(name);
  if (known == runtimes_.end()) {
    description["on"] = ordered_json::array({daemon});
    runtimes_[name] = std::move(description);
    return;
  }
  description["on"] = known->at("on");
  if (*known == description) {
    known->at("on").push_back(daemon);
    return;
  }
  exit_ = exit_failed;
  complain(
      fmt::format("'{0}' of '{1}' is left out, since that of '{2}' has other options; "
                  "export it by itself: strata export {0} --on {1}",
                  name, daemon, known->at("on").at(0).get<std::string>()));
}

std::string exported_stack::name() const {
  if (auto given = call_.text("name"); !given.empty()) return given;
  return stacks_.size() == 1 && !stacks_.begin()->empty() ? *stacks_.begin() : "exported";
}

void exported_stack::show() const {
  const ordered_json document{{"name", name()}, {"runtimes", runtimes_}};
  if (call_.as_json) {
    print(document.dump(2) + "\n");
  } else {
    print(text::to_yaml(document));
  }
  if (secrets_.empty()) return;
  complain(
      fmt::format("left out, since the daemon does not show secrets: {}; 'strata up' leaves "
                  "them as they are",
                  fmt::join(secrets_, ", ")));
}

}  // namespace

outcome<int> run_export(const invocation& call) {
  fleet fleet(call, {.is_dry = true});
  if (auto found = fleet.find_daemons({}); !found) return std::unexpected(found.error());
  exported_stack exported(call);
  for (auto* const each : fleet.home()) {
    if (auto added = exported.add(*each); !added) return std::unexpected(added.error());
  }
  exported.show();
  return exported.exit();
}

}  // namespace strata::cli
