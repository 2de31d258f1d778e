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

}  // namespace

outcome<> rollback::restore(const note_of_state& note) {
  auto& client = note.deployment->client();
  const auto target = runtime_target(note.name);
  const auto shown = client.get(target);
  const bool is_gone = !shown && shown.error().exit == exit_not_found;
  if (!shown && !is_gone) return std::unexpected(shown.error());
  if (!note.before) {
    if (is_gone) return {};
    const auto removed = client.remove(target);
    if (!removed) return std::unexpected(removed.error());
    return {};
  }
  if (is_gone) return refuse(exit_failed, fmt::format("'{}' was removed meanwhile", note.name));
  const auto now = present_in(*shown);
  if (const auto options = earlier_options(*note.before, *now); !options.empty()) {
    const auto edited = client.patch(target, {{"options", options}});
    if (!edited) return std::unexpected(edited.error());
  }
  if (note.before->is_running == now->is_running) return {};
  const auto changed =
      client.post(runtime_target(note.name, note.before->is_running ? "start" : "stop"));
  if (!changed) return std::unexpected(changed.error());
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
