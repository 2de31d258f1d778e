#include "cli/stack/readiness.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "cli/terminal/progress_bar.hpp"
#include "cli/terminal/table.hpp"

namespace strata::cli {

using nlohmann::json;

namespace {

using clock = std::chrono::steady_clock;

/// Why a proxy cannot use a backend; empty if it can, or shall not.
std::string obstacle_of(const json& backend, bool has_checks) {
  const auto state = text_at(backend, "state");
  const auto text = text_at(backend, "text");
  if (state == "drained") return {};
  if (state == "unknown") return fmt::format("backend '{}' has no address yet", text);
  if (state != "ready") return fmt::format("backend '{}' is {}", text, state);
  if (!has_checks || text_at(backend, "check") == "passed") return {};
  return fmt::format("backend '{}' has not passed a check yet", text);
}

outcome<std::string> obstacle_of_backends(const fleet::placed_runtime& placed, const json& shown) {
  const auto& name = placed.described.desired.name;
  const auto backends = placed.deployment->client().ask(name, "backends");
  if (!backends) return std::unexpected(backends.error());
  const auto options = shown.value("options", json::object());
  const bool has_checks = text_at(options, "check") != "off";
  for (const auto& each : *backends) {
    const auto obstacle = obstacle_of(each, has_checks);
    if (!obstacle.empty()) return fmt::format("'{}': {}", placed.shown_name(), obstacle);
  }
  return std::string();
}

/// Why a runtime is not ready; empty if it is. Errors: it has failed.
outcome<std::string> obstacle_of(const fleet::placed_runtime& placed) {
  const auto shown = placed.deployment->find(placed.described.desired.name);
  if (!shown) return std::unexpected(shown.error());
  const auto name = placed.shown_name();
  if (shown->is_null()) return refuse(exit_failed, fmt::format("'{}' was removed meanwhile", name));
  const auto state = text_at(*shown, "state");
  if (state == "failed") {
    return refuse(exit_failed, fmt::format("'{}' has failed: {}", name, text_at(*shown, "reason")));
  }
  if (state != "running") return fmt::format("'{}' is {}", name, state);
  const auto warning = text_at(*shown, "warning");
  if (!warning.empty()) return fmt::format("'{}': {}", name, warning);
  if (text_at(*shown, "type") == "proxy") return obstacle_of_backends(placed, *shown);
  return std::string();
}

}  // namespace

outcome<> wait_until_ready(std::span<const fleet::placed_runtime> placed,
                           std::chrono::duration<double> timeout) {
  constexpr auto pause = std::chrono::milliseconds(100);
  const auto limit = clock::now() + std::chrono::duration_cast<clock::duration>(timeout);
  progress_bar bar;
  for (const auto& each : placed) {
    if (!each.described.desired.runs) continue;
    for (;;) {
      const auto obstacle = obstacle_of(each);
      if (!obstacle) return std::unexpected(obstacle.error());
      if (obstacle->empty()) break;
      if (clock::now() >= limit) {
        return refuse(exit_failed,
                      fmt::format("not ready within {} s: {}", timeout.count(), *obstacle));
      }
      bar.show("waiting: " + *obstacle);
      std::this_thread::sleep_for(pause);
    }
  }
  return {};
}

}  // namespace strata::cli
