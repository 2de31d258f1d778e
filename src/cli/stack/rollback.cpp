#include "cli/stack/rollback.hpp"

#include <fmt/format.h>

#include <ranges>

#include "cli/terminal/output.hpp"
#include "runtime/types/types.hpp"

namespace strata::cli {

using nlohmann::json;

namespace {

/// The options that differ now, with their earlier values.
json earlier_options(const stack::present_runtime& before, const stack::present_runtime& now) {
  auto options = json::object();
  const auto* const type = runtime::find_type(before.type);
  if (type == nullptr) return options;
  for (const auto& row : type->rows()) {
    const std::string key(row.key);
    const bool is_known = before.options.contains(key) && now.options.contains(key);
    if (row.kind == options::option_kind::secret || !is_known) continue;
    if (before.options[key] != now.options[key]) options[key] = before.options[key];
  }
  return options;
}

/// The options that were not the default. Errors: a secret, which the daemon does not show.
outcome<json> own_options(const stack::present_runtime& before) {
  auto options = json::object();
  const auto* const type = runtime::find_type(before.type);
  if (type == nullptr) return options;
  for (const auto& row : type->rows()) {
    const auto value = before.options.find(row.key);
    if (value == before.options.end() || stack::is_default(row, *value)) continue;
    if (options::is_plain_secret(row, *value)) {
      return refuse(exit_failed, fmt::format("it was removed, and had a secret, '{}', which the "
                                             "daemon does not show",
                                             row.key));
    }
    options[std::string(row.key)] = *value;
  }
  return options;
}

}  // namespace

outcome<> rollback::create(const note_of_state& note) {
  const auto options = own_options(*note.before);
  if (!options) return std::unexpected(options.error());
  const json body = {{"type", note.before->type},
                     {"name", note.name},
                     {"options", *options},
                     {"start", note.before->is_running}};
  const auto created = note.deployment->client().post("/v1/runtimes", body);
  if (!created) return std::unexpected(created.error());
  return {};
}

outcome<> rollback::change(const note_of_state& note, const stack::present_runtime& now) {
  auto& client = note.deployment->client();
  bool is_due = false;  // a restart, for the earlier options
  if (const auto options = earlier_options(*note.before, now); !options.empty()) {
    const auto edited = client.patch(runtime_target(note.name), {{"options", options}});
    if (!edited) return std::unexpected(edited.error());
    is_due = !edited->value("needs_restart", json::array()).empty();
  }
  std::string verb;
  if (note.before->is_running != now.is_running) {
    verb = note.before->is_running ? "start" : "stop";
  } else if (now.is_running && is_due && note.deployment->restarts()) {
    verb = "restart";
  }
  if (verb.empty()) return {};
  const auto changed = client.post(runtime_target(note.name, verb));
  if (!changed) return std::unexpected(changed.error());
  return {};
}

outcome<> rollback::restore(const note_of_state& note) {
  auto& client = note.deployment->client();
  const auto target = runtime_target(note.name);
  const auto shown = client.get(target);
  const bool is_gone = !shown && shown.error().exit == exit_not_found;
  if (!shown && !is_gone) return std::unexpected(shown.error());
  if (note.before) return is_gone ? create(note) : change(note, *present_in(*shown));
  if (is_gone) return {};
  const auto removed = client.remove(target);
  if (!removed) return std::unexpected(removed.error());
  return {};
}

std::vector<std::string> rollback::run() const {
  std::vector<std::string> restored;
  for (const auto& each : notes_ | std::views::reverse) {
    const auto done = restore(each);
    const auto name = each.deployment->shown_name(each.name);
    if (done) {
      restored.push_back(name);
    } else {
      complain(fmt::format("'{}' could not be made as it was: {}", name, done.error().message));
    }
  }
  return restored;
}

}  // namespace strata::cli
