#include "cli/stack/fleet.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/daemon_client/cluster.hpp"
#include "cli/daemon_client/names.hpp"
#include "cli/stack/selection.hpp"
#include "cli/terminal/table.hpp"
#include "stack/membership.hpp"

namespace strata::cli {

using nlohmann::json;
using stack::described_runtime;

namespace {

/// Whether a card of a daemon shows a runtime of the stack.
bool holds_member(const json& daemon, const std::string& stack) {
  const auto label = fmt::format("{}={}", stack::stack_label, stack);
  return std::ranges::any_of(daemon.at("runtimes"), [&label](const json& each) {
    return has_labels(labels_of(each), label);
  });
}

}  // namespace

outcome<> fleet::find_daemons(const stack::document& document) {
  document_ = document;
  const auto& all = document_.runtimes;
  const auto first = std::ranges::find_if(
      all, [](const described_runtime& each) { return !each.daemons.empty(); });
  is_wide_ = first != all.end() || names_daemons(call_.daemon.other);
  if (is_wide_) {
    auto cluster = read_local_cluster(call_.daemon);
    if (!cluster && first != all.end()) {
      return std::unexpected(refusal_at(*first, cluster.error()));
    }
    if (!cluster) return std::unexpected(cluster.error());
    cluster_ = std::move(*cluster);
  }
  if (auto found = find_home(); !found) return found;
  for (const auto& each : all) {
    auto found = find_daemons_of(each);
    if (!found) return std::unexpected(refusal_at(each, found.error()));
    daemons_.push_back(std::move(*found));
  }
  for (const auto& each : all) {
    if (auto checked = check_owner(each); !checked) return checked;
  }
  return {};
}

outcome<> fleet::find_home() {
  const auto& other = call_.daemon.other;
  if (!is_wide_) {
    home_ = {at("")};
    return {};
  }
  const auto names = select_daemons(cluster_, other.empty() ? text_at(cluster_, "name") : other);
  if (!names && !other.empty()) return std::unexpected(names.error());
  if (!names) {
    home_ = {at(text_at(cluster_, "name"))};
    return {};
  }
  for (const auto& each : *names) home_.push_back(at(each));
  return {};
}

outcome<fleet::deployments> fleet::find_daemons_of(const described_runtime& described) {
  if (described.daemons.empty()) return home_;
  deployments found;
  for (const auto& word : described.daemons) {
    const auto names = select_daemons(cluster_, word);
    if (!names) return std::unexpected(names.error());
    for (const auto& name : *names) {
      auto* const deployment = at(name);
      if (std::ranges::find(found, deployment) == found.end()) found.push_back(deployment);
    }
  }
  return found;
}

// An owner is a runtime of the same daemon.
outcome<> fleet::check_owner(const described_runtime& described) const {
  const auto owner = described.desired.options.find("owner");
  if (owner == described.desired.options.end() || !owner->is_string()) return {};
  const auto name = owner->get<std::string>();
  const auto owners = daemons_of(name);
  if (owners.empty()) return {};  // the stack does not describe it
  for (const auto* const each : daemons_of(described.desired.name)) {
    if (std::ranges::find(owners, each) != owners.end()) continue;
    const refusal wrong{exit_failed,
                        fmt::format("its owner '{}' is not on '{}'; give both the same 'on'", name,
                                    each->daemon())};
    return std::unexpected(refusal_at(described, wrong));
  }
  return {};
}

deployment* fleet::at(const std::string& daemon) {
  const auto known = std::ranges::find_if(
      deployments_, [&daemon](const auto& each) { return each->daemon() == daemon; });
  if (known != deployments_.end()) return known->get();
  auto address = call_.daemon;
  // Its own name may not be in the registry yet.
  const bool is_own = is_wide_ && daemon == text_at(cluster_, "name");
  if (is_wide_) address.other = is_own ? "" : daemon;
  auto settings = settings_;
  settings.daemon = daemon;
  deployments_.push_back(std::make_unique<deployment>(std::move(address), settings, deeds_));
  return deployments_.back().get();
}

/// Adds the daemons that, by their cards, have runtimes of the stack.
void fleet::add_holders() {
  const auto has_daemons = [](const described_runtime& each) { return !each.daemons.empty(); };
  if (!std::ranges::any_of(document_.runtimes, has_daemons)) return;
  for (const auto& each : cluster_.at("daemons")) {
    if (holds_member(each, document_.name)) at(text_at(each, "daemon"));
  }
}

fleet::deployments fleet::daemons_of(const std::string& runtime) const {
  for (std::size_t index = 0; index < daemons_.size(); ++index) {
    if (document_.runtimes[index].desired.name == runtime) return daemons_[index];
  }
  return {};
}

refusal fleet::refusal_at(const described_runtime& described, const refusal& reason) const {
  const auto place = described.daemons.empty() ? described.at : described.daemons_at;
  return {reason.exit, stack::placed_reason(document_.file, place,
                                            fmt::format("no daemon for '{}': {}",
                                                        described.desired.name, reason.message))};
}

outcome<std::vector<fleet::placed_runtime>> fleet::place(
    std::span<const described_runtime> selected) {
  std::vector<placed_runtime> placed;
  deployments reached;
  for (const auto& each : selected) {
    for (auto* const deployment : daemons_of(each.desired.name)) {
      placed.push_back({each, deployment});
      if (!is_wide_ || std::ranges::find(reached, deployment) != reached.end()) continue;
      const auto version = deployment->client().get("/v1/version");
      if (!version) return std::unexpected(refusal_at(each, version.error()));
      reached.push_back(deployment);
    }
  }
  if (settings_.is_dry) {
    std::ranges::stable_sort(placed, {},
                             [](const placed_runtime& each) { return each.deployment->daemon(); });
  }
  return placed;
}

outcome<std::vector<fleet::placed_name>> fleet::members() {
  if (const auto placed = place(document_.runtimes); !placed) {
    return std::unexpected(placed.error());
  }
  add_holders();
  std::vector<placed_name> all;
  for (const auto& each : deployments_) {
    const auto names = members_of(each->client(), document_.name);
    if (!names && is_wide_) {
      return refuse(names.error().exit,
                    fmt::format("the runtimes of the stack '{}' on '{}' are not known: {}",
                                document_.name, each->daemon(), names.error().message));
    }
    if (!names) return std::unexpected(names.error());
    for (const auto& name : *names) all.push_back({name, each.get()});
  }
  return all;
}

outcome<std::vector<fleet::placed_name>> fleet::stale_members() {
  auto all = members();
  if (!all) return all;
  std::erase_if(*all, [this](const placed_name& each) {
    const auto daemons = daemons_of(each.name);
    return std::ranges::find(daemons, each.deployment) != daemons.end();
  });
  return all;
}

}  // namespace strata::cli
