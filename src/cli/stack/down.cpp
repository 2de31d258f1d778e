// strata down: removes the runtimes that a stack has created.
#include <algorithm>

#include "cli/stack/fleet.hpp"
#include "cli/stack/report.hpp"
#include "cli/stack/rows.hpp"
#include "cli/stack/stack_source.hpp"

namespace strata::cli {

namespace {

/// The members in the order of their removal: those that need others come first.
void order_for_removal(std::vector<fleet::placed_name>& members, const stack::document& document) {
  const auto place = [&document](const fleet::placed_name& member) {
    const auto found = std::ranges::find(document.runtimes, member.name,
                                         [](const auto& each) { return each.desired.name; });
    return document.runtimes.end() - found;  // 0: it is not described
  };
  std::ranges::stable_sort(members, {}, place);
}

}  // namespace

outcome<int> run_down(const invocation& call) {
  stack::document document{.name = call.text("name"), .runtimes = {}};
  if (document.name.empty()) {
    auto read = read_stack(call);
    if (!read) return std::unexpected(read.error());
    document = std::move(*read);
  }
  fleet fleet(call, {.is_dry = call.is_set("dry_run")});
  if (auto found = fleet.find_daemons(document); !found) return std::unexpected(found.error());
  auto members = fleet.members();
  if (!members) return std::unexpected(members.error());
  order_for_removal(*members, document);
  deed_report report(call, fleet.deeds(), fleet.is_dry());
  for (const auto& each : *members) {
    const auto removed = each.deployment->remove(each.name);
    report.update();
    if (!removed) return std::unexpected(removed.error());
  }
  return exit_done;
}

}  // namespace strata::cli
