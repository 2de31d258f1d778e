// strata up: makes the runtimes of a stack as it describes them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <ranges>
#include <thread>

#include "cli/stack/fleet.hpp"
#include "cli/stack/report.hpp"
#include "cli/stack/rollback.hpp"
#include "cli/stack/rows.hpp"
#include "cli/stack/selection.hpp"
#include "cli/stack/stack_source.hpp"
#include "cli/terminal/output.hpp"
#include "cli/terminal/progress_bar.hpp"
#include "cli/terminal/table.hpp"
#include "stack/membership.hpp"

namespace strata::cli {

namespace {

using clock = std::chrono::steady_clock;

class stack_up {
 public:
  stack_up(const invocation& call, stack::document document)
      : call_(call),
        document_(std::move(document)),
        fleet_(call, {.is_dry = call.is_set("dry_run"), .restarts = call.is_set("restart")}) {}

  outcome<int> run();

 private:
  using placed_runtime = fleet::placed_runtime;

  outcome<std::vector<placed_runtime>> find_runtimes();
  outcome<> rehearse(std::span<const stack::described_runtime> selected);
  outcome<> apply_all(std::span<const placed_runtime> placed, deed_report& report);
  outcome<> apply(const placed_runtime& placed);
  outcome<> make_as_described(const placed_runtime& placed);
  outcome<> prune(deed_report& report);
  outcome<> wait(std::span<const placed_runtime> placed);
  /// Why a runtime is not ready; empty if it is. Errors: it has failed.
  outcome<std::string> obstacle_of(const placed_runtime& placed);

  const invocation& call_;
  stack::document document_;
  fleet fleet_;
  std::vector<fleet::placed_name> stale_;  // for --prune
  rollback rollback_;
};

std::string shown_name_of(const fleet::placed_runtime& placed) {
  return placed.deployment->shown_name(placed.described.desired.name);
}

// All that can be wrong with daemons is found before anything is changed.
outcome<std::vector<fleet::placed_runtime>> stack_up::find_runtimes() {
  const auto selected = select_runtimes(document_, call_.words);
  if (!selected) return std::unexpected(selected.error());
  if (auto found = fleet_.find_daemons(document_); !found) return std::unexpected(found.error());
  auto placed = fleet_.place(*selected);
  if (!placed) return placed;
  if (fleet_.is_wide() && !fleet_.is_dry()) {
    if (auto rehearsed = rehearse(*selected); !rehearsed) return std::unexpected(rehearsed.error());
  }
  if (!call_.is_set("prune")) return placed;
  auto stale = fleet_.stale_members();
  if (!stale) return std::unexpected(stale.error());
  stale_ = std::move(*stale);
  return placed;
}

// What one daemon would refuse is known before another one is changed.
outcome<> stack_up::rehearse(std::span<const stack::described_runtime> selected) {
  fleet rehearsal(call_, {.is_dry = true});
  if (auto found = rehearsal.find_daemons(document_); !found) return found;
  const auto placed = rehearsal.place(selected);
  if (!placed) return std::unexpected(placed.error());
  for (const auto& each : *placed) {
    if (auto applied = apply(each); !applied) return applied;
  }
  return {};
}

outcome<> stack_up::apply(const placed_runtime& placed) {
  auto applied = make_as_described(placed);
  if (applied) return applied;
  return refuse(applied.error().exit,
                fmt::format("'{}': {}", shown_name_of(placed), applied.error().message));
}

outcome<> stack_up::make_as_described(const placed_runtime& placed) {
  const auto& [described, deployment] = placed;
  const auto shown = deployment->find(described.desired.name);
  if (!shown) return std::unexpected(shown.error());
  const auto present = present_in(*shown);
  auto desired = described.desired;
  stack::join_stack(desired, document_.name, present);
  if (!deployment->is_dry()) rollback_.note(*deployment, desired.name, present);
  return deployment->apply(*runtime::find_type(desired.type), desired, present);
}

outcome<> stack_up::apply_all(std::span<const placed_runtime> placed, deed_report& report) {
  progress_bar bar;
  double done = 0;
  for (const auto& each : placed) {
    bar.show(done++ / static_cast<double>(placed.size()), shown_name_of(each));
    const auto applied = apply(each);
    bar.clear();
    report.update();
    if (!applied) return applied;
  }
  return {};
}

// After all else: until then, the others may have needed them.
outcome<> stack_up::prune(deed_report& report) {
  for (const auto& each : stale_) {
    const auto shown = each.deployment->find(each.name);
    if (!shown) return std::unexpected(shown.error());
    if (!fleet_.is_dry()) rollback_.note(*each.deployment, each.name, present_in(*shown));
    const auto removed = each.deployment->remove(each.name);
    report.update();
    if (!removed) return removed;
  }
  return {};
}

outcome<std::string> stack_up::obstacle_of(const placed_runtime& placed) {
  const auto shown = placed.deployment->find(placed.described.desired.name);
  if (!shown) return std::unexpected(shown.error());
  const auto name = shown_name_of(placed);
  if (shown->is_null()) return refuse(exit_failed, fmt::format("'{}' was removed meanwhile", name));
  const auto state = text_at(*shown, "state");
  if (state == "failed") {
    return refuse(exit_failed, fmt::format("'{}' has failed: {}", name, text_at(*shown, "reason")));
  }
  if (state != "running") return fmt::format("'{}' is {}", name, state);
  const auto warning = text_at(*shown, "warning");
  return warning.empty() ? std::string() : fmt::format("'{}': {}", name, warning);
}

outcome<> stack_up::wait(std::span<const placed_runtime> placed) {
  constexpr auto pause = std::chrono::milliseconds(100);
  const std::chrono::duration<double> timeout(call_.flags.value("wait_timeout", 60.0));
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

outcome<int> stack_up::run() {
  const auto placed = find_runtimes();
  if (!placed) return std::unexpected(placed.error());
  deed_report report(call_, fleet_.deeds(), fleet_.is_dry());
  auto done = apply_all(*placed, report);
  if (done && call_.is_set("wait") && !fleet_.is_dry()) done = wait(*placed);
  if (done && call_.is_set("prune")) done = prune(report);
  if (done) return exit_done;
  if (!call_.is_set("rollback") || fleet_.is_dry()) return std::unexpected(done.error());
  complain(done.error().message);
  const auto restored = rollback_.run();
  return refuse(done.error().exit, restored.empty()
                                       ? "nothing was rolled back"
                                       : fmt::format("as before: {}", fmt::join(restored, ", ")));
}

}  // namespace

outcome<int> run_up(const invocation& call) {
  auto document = read_stack(call);
  if (!document) return std::unexpected(document.error());
  return stack_up(call, std::move(*document)).run();
}

}  // namespace strata::cli
