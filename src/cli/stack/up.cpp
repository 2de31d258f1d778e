// strata up: makes the runtimes of a stack as it describes them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <ranges>
#include <thread>

#include "cli/stack/deployment.hpp"
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
        deployment_(call.daemon,
                    {.is_dry = call.is_set("dry_run"), .restarts = call.is_set("restart")}) {}

  outcome<int> run();

 private:
  outcome<> apply_all(std::span<const stack::described_runtime> selected, deed_report& report);
  outcome<> apply(const stack::described_runtime& described);
  outcome<> prune(deed_report& report);
  outcome<> wait(std::span<const stack::described_runtime> selected);
  /// Why a runtime is not ready; empty if it is. Errors: it has failed.
  outcome<std::string> obstacle_of(const std::string& name);

  const invocation& call_;
  stack::document document_;
  deployment deployment_;
  rollback rollback_;
};

outcome<> stack_up::apply(const stack::described_runtime& described) {
  const auto shown = deployment_.find(described.desired.name);
  if (!shown) return std::unexpected(shown.error());
  const auto present = present_in(*shown);
  auto desired = described.desired;
  stack::join_stack(desired, document_.name, present);
  rollback_.note(desired.name, present);
  return deployment_.apply(*runtime::find_type(desired.type), desired, present);
}

outcome<> stack_up::apply_all(std::span<const stack::described_runtime> selected,
                              deed_report& report) {
  progress_bar bar;
  double done = 0;
  for (const auto& each : selected) {
    bar.show(done++ / static_cast<double>(selected.size()), each.desired.name);
    const auto applied = apply(each);
    bar.clear();
    report.update();
    if (!applied) {
      return refuse(applied.error().exit,
                    fmt::format("'{}': {}", each.desired.name, applied.error().message));
    }
  }
  return {};
}

// After all else: until then, the others may have needed them.
outcome<> stack_up::prune(deed_report& report) {
  const auto stale = stale_members(deployment_.client(), document_);
  if (!stale) return std::unexpected(stale.error());
  for (const auto& name : *stale) {
    const auto removed = deployment_.remove(name);
    report.update();
    if (!removed) return removed;
  }
  return {};
}

outcome<std::string> stack_up::obstacle_of(const std::string& name) {
  const auto shown = deployment_.find(name);
  if (!shown) return std::unexpected(shown.error());
  if (shown->is_null()) return refuse(exit_failed, fmt::format("'{}' was removed meanwhile", name));
  const auto state = text_at(*shown, "state");
  if (state == "failed") {
    return refuse(exit_failed, fmt::format("'{}' has failed: {}", name, text_at(*shown, "reason")));
  }
  if (state != "running") return fmt::format("'{}' is {}", name, state);
  const auto warning = text_at(*shown, "warning");
  return warning.empty() ? std::string() : fmt::format("'{}': {}", name, warning);
}

outcome<> stack_up::wait(std::span<const stack::described_runtime> selected) {
  constexpr auto pause = std::chrono::milliseconds(100);
  const std::chrono::duration<double> timeout(call_.flags.value("wait_timeout", 60.0));
  const auto limit = clock::now() + std::chrono::duration_cast<clock::duration>(timeout);
  progress_bar bar;
  for (const auto& each : selected) {
    if (!each.desired.runs) continue;
    for (;;) {
      const auto obstacle = obstacle_of(each.desired.name);
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
  const auto selected = select_runtimes(document_, call_.words);
  if (!selected) return std::unexpected(selected.error());
  deed_report report(call_, deployment_);
  auto done = apply_all(*selected, report);
  if (done && call_.is_set("wait") && !deployment_.is_dry()) done = wait(*selected);
  if (done && call_.is_set("prune")) done = prune(report);
  if (done) return exit_done;
  if (!call_.is_set("rollback") || deployment_.is_dry()) return std::unexpected(done.error());
  complain(done.error().message);
  const auto restored = rollback_.run(deployment_.client());
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
