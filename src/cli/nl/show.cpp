// strata nl families, show and policy
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/nl/flags.hpp"
#include "cli/nl/named_family.hpp"
#include "cli/nl/rows.hpp"
#include "cli/nl/text.hpp"
#include "cli/terminal/listing.hpp"
#include "cli/terminal/output.hpp"
#include "text/readable.hpp"

namespace strata::cli {

using nlohmann::json;

outcome<int> run_nl_families(const invocation& call) {
  static constexpr column columns[] = {{"id", "/id"},
                                       {"name", "/name"},
                                       {"version", "/version"},
                                       {"operations", "/operations"},
                                       {"groups", "/groups"}};
  auto on = nl::generic::open();
  if (!on) return refuse_family(on.error());
  const auto all = on->families();
  if (!all) return refuse_family(all.error());
  auto objects = json::array();
  for (const auto& each : *all) {
    auto names = json::array();
    for (const auto& group : each.groups) names.push_back(group.name);
    objects.push_back({{"id", each.id},
                       {"name", each.name},
                       {"version", each.version},
                       {"operations", each.operations.size()},
                       {"groups", std::move(names)}});
  }
  show_list(call, columns, objects);
  return exit_done;
}

std::vector<std::string> family_names() {
  std::vector<std::string> names;
  auto kernel = nl::generic::open();
  if (!kernel) return names;
  const auto all = kernel->families();
  if (!all) return names;
  for (const auto& each : *all) names.push_back(each.name);
  return names;
}

outcome<int> run_nl_show(const invocation& call) {
  auto named = find_family(call);
  if (!named) return std::unexpected(named.error());
  const auto& family = named->family;
  const auto* const spec = named->spec();
  const auto policy = named->kernel.policy(family);
  // A family need not publish a policy.
  if (!policy && policy.error().code != errc::not_found) return refuse_family(policy.error());
  const auto rules = policy.value_or(nl::family_policy{});
  if (call.as_json) {
    auto object = family_to_json(family, spec);
    object["policy"] = policy_to_json(rules, spec);
    if (spec != nullptr) object["specification"] = spec_to_json(*spec);
    print_json(object);
    return exit_done;
  }
  print(render_family(family, spec));
  if (spec != nullptr) {
    print(fmt::format("\nas {} says:\n{}", text::printable(spec->file), render_spec(*spec)));
  }
  if (policy) print("\n" + render_policy(rules, spec));
  return exit_done;
}

outcome<int> run_nl_policy(const invocation& call) {
  auto named = find_family(call);
  if (!named) return std::unexpected(named.error());
  const auto* const spec = named->spec();
  const auto policy = named->kernel.policy(named->family);
  if (!policy) return refuse_family(policy.error());
  if (call.as_json) {
    print_json(policy_to_json(*policy, spec));
  } else {
    print(render_policy(*policy, spec));
  }
  return exit_done;
}

}  // namespace strata::cli
