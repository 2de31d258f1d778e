// strata down: removes the runtimes that a stack has created.
#include <algorithm>

#include "cli/stack/deployment.hpp"
#include "cli/stack/report.hpp"
#include "cli/stack/rows.hpp"
#include "cli/stack/selection.hpp"
#include "cli/stack/stack_source.hpp"

namespace strata::cli {

namespace {

/// The members in the order of their removal: those that need others come first.
void order_for_removal(std::vector<std::string>& members, const stack::document& document) {
  const auto place = [&document](const std::string& name) {
    const auto found = std::ranges::find(document.runtimes, name,
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
  deployment deployment(call.daemon, {.is_dry = call.is_set("dry_run")});
  auto members = members_of(deployment.client(), document.name);
  if (!members) return std::unexpected(members.error());
  order_for_removal(*members, document);
  deed_report report(call, deployment);
  for (const auto& name : *members) {
    const auto removed = deployment.remove(name);
    report.update();
    if (!removed) return std::unexpected(removed.error());
  }
  return exit_done;
}

}  // namespace strata::cli
