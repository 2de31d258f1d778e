#include "cli/stack/deployment.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "text/readable.hpp"

namespace strata::cli {

using nlohmann::json;

std::string shown_name(const std::string& name, const std::string& daemon) {
  return text::printable(daemon.empty() ? name : fmt::format("{}@{}", name, daemon));
}

std::string line_of(const deed& deed, bool is_dry) {
  auto line = fmt::format("{}: ", shown_name(deed.name, deed.daemon));
  if (is_dry && deed.effect != "unchanged") line += "would be ";
  line += deed.effect;
  if (!deed.options.empty()) line += fmt::format(": {}", fmt::join(deed.options, ", "));
  if (!deed.waiting.empty()) {
    const auto daemon = deed.daemon.empty() ? "" : " --on " + text::printable(deed.daemon);
    line += fmt::format(" (from the next start, 'strata restart {}{}': {})",
                        text::printable(deed.name), daemon, fmt::join(deed.waiting, ", "));
  }
  return line + "\n";
}

std::string plan_line(const std::vector<deed>& deeds) {
  // In the order of the line.
  constexpr std::pair<std::string_view, std::string_view> verbs[] = {
      {"created", "create"},
      {"changed", "change"},
      {"changed and restarted", "change and restart"},
      {"started", "start"},
      {"removed", "remove"}};
  std::vector<std::string> parts;
  for (const auto& [effect, verb] : verbs) {
    std::vector<std::string> names;
    for (const auto& each : deeds) {
      if (each.effect != effect) continue;
      names.push_back(shown_name(each.name, each.daemon));
      if (!each.options.empty())
        names.back() += fmt::format(" ({})", fmt::join(each.options, ", "));
    }
    if (!names.empty()) parts.push_back(fmt::format("{} {}", verb, fmt::join(names, ", ")));
  }
  if (parts.empty()) return "plan: nothing to change\n";
  const auto kept = std::ranges::count(deeds, "unchanged", &deed::effect);
  if (kept != 0) parts.push_back(fmt::format("keep {}", kept));
  return fmt::format("plan: {}\n", fmt::join(parts, "; "));
}

json json_of(const std::vector<deed>& deeds) {
  auto all = json::array();
  for (const auto& each : deeds) {
    all.push_back({{"name", each.name},
                   {"what", each.effect},
                   {"options", each.options},
                   {"needs_restart", each.waiting}});
    if (!each.daemon.empty()) all.back()["daemon"] = each.daemon;
  }
  return all;
}

// For errors other than a wrong value, the reason is a whole sentence.
std::string message_of(const error& failure) {
  return failure.code == errc::invalid_argument ? describe(failure) : failure.reason;
}

std::optional<stack::present_runtime> present_in(const json& shown) {
  if (shown.is_null()) return std::nullopt;
  return stack::present_runtime{.type = shown.value("type", ""),
                                .options = shown.value("options", json::object()),
                                .is_running = shown.value("state", "") == "running"};
}

outcome<json> deployment::find(const std::string& name) {
  auto found = client_.get(runtime_target(name));
  if (!found && found.error().exit == exit_not_found) return json();
  return found;
}

outcome<> deployment::apply(const runtime::type_row& type, const stack::desired_runtime& desired,
                            const std::optional<stack::present_runtime>& present) {
  const auto plan = stack::plan_for(type.rows(), desired, present);
  if (!plan) return refuse(exit_failed, message_of(plan.error()));
  if (plan->is_creation) return create(desired);
  if (auto adjusted = adjust(desired.name, *plan, present->is_running); !adjusted) return adjusted;
  if (!plan->is_start) return {};
  if (!settings_.is_dry) {
    const auto started = client_.post(runtime_target(desired.name, "start"));
    if (!started) return std::unexpected(started.error());
  }
  add(desired.name, "started");
  return {};
}

outcome<> deployment::create(const stack::desired_runtime& desired) {
  const json body = {{"type", desired.type},
                     {"name", desired.name},
                     {"options", desired.options},
                     {"start", desired.runs && (!settings_.is_dry || settings_.tries_start)},
                     {"dry_run", settings_.is_dry}};
  // In a dry run, the daemon does not know an owner that would have been created before.
  const bool is_blind =
      settings_.is_dry && planned_.contains(desired.options.value("owner", std::string()));
  if (!is_blind) {
    const auto created = client_.post("/v1/runtimes", body);
    if (!created) return std::unexpected(created.error());
  }
  if (settings_.is_dry) planned_.insert(desired.name);
  add(desired.name, "created");
  return {};
}

outcome<> deployment::adjust(const std::string& name, const stack::plan& plan, bool is_running) {
  deed done{
      name, settings_.daemon, plan.changes.empty() ? "unchanged" : "changed", {}, plan.waiting};
  for (const auto& [key, value] : plan.changes.items()) done.options.push_back(key);
  if (!plan.changes.empty() && !settings_.is_dry) {
    const auto edited = client_.patch(runtime_target(name), {{"options", plan.changes}});
    if (!edited) return std::unexpected(edited.error());
    if (is_running) done.waiting = edited->value("needs_restart", std::vector<std::string>{});
  }
  if (settings_.restarts && !done.waiting.empty()) {
    if (!settings_.is_dry) {
      const auto restarted = client_.post(runtime_target(name, "restart"));
      if (!restarted) return std::unexpected(restarted.error());
    }
    done.effect = "changed and restarted";
    done.waiting.clear();
  }
  deeds_.push_back(std::move(done));
  return {};
}

outcome<> deployment::act(const std::string& name, const char* verb, std::string_view state,
                          const char* effect) {
  const auto present = find(name);
  if (!present) return std::unexpected(present.error());
  if (present->is_null() && !planned_.contains(name)) {
    return refuse(exit_failed,
                  fmt::format("cannot find runtime '{}': no runtime has this name", name));
  }
  const bool is_so = !present->is_null() && present->value("state", "") == state;
  if (!is_so && !settings_.is_dry) {
    const auto answer = client_.post(runtime_target(name, verb));
    if (!answer) return std::unexpected(answer.error());
  }
  add(name, is_so ? "unchanged" : effect);
  return {};
}

outcome<> deployment::remove(const std::string& name) {
  const auto present = find(name);
  if (!present) return std::unexpected(present.error());
  const bool is_gone = present->is_null() && planned_.erase(name) == 0;
  if (!is_gone && !settings_.is_dry) {
    const auto answer = client_.remove(runtime_target(name));
    if (!answer) return std::unexpected(answer.error());
  }
  add(name, is_gone ? "unchanged" : "removed");
  return {};
}

}  // namespace strata::cli
