// strata up: makes the runtimes of a stack as it describes them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/stack/fleet.hpp"
#include "cli/stack/readiness.hpp"
#include "cli/stack/report.hpp"
#include "cli/stack/rollback.hpp"
#include "cli/stack/rows.hpp"
#include "cli/stack/selection.hpp"
#include "cli/stack/stack_source.hpp"
#include "cli/terminal/output.hpp"
#include "cli/terminal/progress_bar.hpp"
#include "stack/membership.hpp"

namespace strata::cli {

namespace {

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
  /// What would be done. Errors: what one of the daemons would refuse.
  outcome<std::vector<deed>> rehearse(std::span<const stack::described_runtime> selected);
  void show_plan(std::vector<deed> rehearsed) const;
  outcome<> apply_all(std::span<const placed_runtime> placed, deed_report& report);
  outcome<> apply(const placed_runtime& placed);
  outcome<> make_as_described(const placed_runtime& placed);
  outcome<> prune(deed_report& report);

  const invocation& call_;
  stack::document document_;
  fleet fleet_;
  std::vector<fleet::placed_name> stale_;  // for --prune
  rollback rollback_;
};

// All that can be wrong with daemons is found before anything is changed.
outcome<std::vector<fleet::placed_runtime>> stack_up::find_runtimes() {
  const auto selected = select_runtimes(document_, call_.words);
  if (!selected) return std::unexpected(selected.error());
  if (auto found = fleet_.find_daemons(document_); !found) return std::unexpected(found.error());
  auto placed = fleet_.place(*selected);
  if (!placed) return placed;
  if (call_.is_set("prune")) {
    auto stale = fleet_.stale_members();
    if (!stale) return std::unexpected(stale.error());
    stale_ = std::move(*stale);
  }
  if (fleet_.is_dry()) return placed;
  auto rehearsed = rehearse(*selected);
  if (!rehearsed) return std::unexpected(rehearsed.error());
  show_plan(std::move(*rehearsed));
  return placed;
}

// What would be refused is known before anything is changed.
outcome<std::vector<deed>> stack_up::rehearse(std::span<const stack::described_runtime> selected) {
  fleet rehearsal(call_,
                  {.is_dry = true, .restarts = call_.is_set("restart"), .tries_start = false});
  if (auto found = rehearsal.find_daemons(document_); !found) return std::unexpected(found.error());
  const auto placed = rehearsal.place(selected);
  if (!placed) return std::unexpected(placed.error());
  for (const auto& each : *placed) {
    if (auto applied = apply(each); !applied) return std::unexpected(applied.error());
  }
  return rehearsal.deeds();
}

void stack_up::show_plan(std::vector<deed> rehearsed) const {
  if (call_.as_json || call_.quiet) return;
  for (const auto& each : stale_) {
    rehearsed.push_back({each.name, each.deployment->daemon(), "removed", {}, {}});
  }
  print(plan_line(rehearsed));
}

outcome<> stack_up::apply(const placed_runtime& placed) {
  auto applied = make_as_described(placed);
  if (applied) return applied;
  return refuse(applied.error().exit,
                fmt::format("'{}': {}", placed.shown_name(), applied.error().message));
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
    bar.show(done++ / static_cast<double>(placed.size()), each.shown_name());
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

outcome<int> stack_up::run() {
  const auto placed = find_runtimes();
  if (!placed) return std::unexpected(placed.error());
  deed_report report(call_, fleet_.deeds(), fleet_.is_dry());
  auto done = apply_all(*placed, report);
  if (done && call_.is_set("wait") && !fleet_.is_dry()) {
    const std::chrono::duration<double> timeout(call_.flags.value("wait_timeout", 60.0));
    done = wait_until_ready(*placed, timeout);
  }
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
