#include "daemon/supervisor/relations.hpp"

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>

#include "text/nearest.hpp"

namespace strata::daemon {

namespace {

/// The bodies that an entry has, or may have at any moment.
std::vector<const runtime::runtime*> bodies_of(const entry& entry) {
  if (entry.edited == nullptr) return {entry.body.get()};
  return {entry.body.get(), entry.edited};
}

std::vector<std::string> owners_of(const entry& entry) {
  std::vector<std::string> names;
  for (const auto* each : bodies_of(entry)) names.push_back(each->common().owner);
  return names;
}

std::vector<std::string> needs_of(const entry& entry) {
  std::vector<std::string> names;
  for (const auto* each : bodies_of(entry)) {
    for (auto& needed : each->needs()) names.push_back(std::move(needed));
  }
  return names;
}

/// Whether a path leads from one of `open` to `name`.
bool reaches(const entry_map& all, std::vector<std::string> open, const std::string& name,
             std::vector<std::string> (*next_of)(const entry&)) {
  std::set<std::string> seen;
  while (!open.empty()) {
    const auto next = std::move(open.back());
    open.pop_back();
    if (next == name) return true;
    const auto found = all.find(next);
    if (found == all.end() || !seen.insert(next).second) continue;
    for (auto& each : next_of(*found->second)) open.push_back(std::move(each));
  }
  return false;
}

bool is_member(const entry& subject, const std::string& group) {
  return std::ranges::any_of(bodies_of(subject), [&group](const runtime::runtime* body) {
    return body->common().group == group;
  });
}

std::vector<std::string> next_places(const entry_map& all, const given_members& members,
                                     const std::string& place) {
  std::vector<std::string> next;
  if (place.starts_with(group_mark)) {
    for (const auto& [name, each] : all) {
      if (is_member(*each, place.substr(1))) next.push_back(name);
    }
    return next;
  }
  const auto found = all.find(place);
  if (found == all.end()) return next;
  next = needs_of(*found->second);
  for (const auto* each : bodies_of(*found->second)) {
    for (const auto& group : each->follows()) {
      next.push_back(group_mark + group);
      const auto known = members.find({place, next.back()});
      if (known == members.end()) continue;
      next.insert(next.end(), known->second.begin(), known->second.end());
    }
  }
  return next;
}

rank those_of(const entry_map& all, const std::function<bool(const entry&)>& is_one) {
  rank found;
  for (const auto& [name, each] : all) {
    if (is_one(*each)) found.push_back(each);
  }
  return found;
}

/// Whether one of `others` belongs to a group that `subject` follows.
bool follows_one(const entry& subject, const entry_map& others) {
  return std::ranges::any_of(subject.body->follows(), [&](const std::string& group) {
    return std::ranges::any_of(others, [&](const auto& other) {
      return other.second.get() != &subject && is_member(*other.second, group);
    });
  });
}

}  // namespace

std::vector<std::string> leading_to(const entry_map& all, const given_members& members,
                                    std::vector<std::string> texts, const std::string& name) {
  std::map<std::string, std::vector<std::string>> before;  // for each reachable node
  std::set<std::string> seen(texts.begin(), texts.end());
  for (std::vector<std::string> open = texts; !open.empty();) {
    const auto place = std::move(open.back());
    open.pop_back();
    for (auto& each : next_places(all, members, place)) {
      before[each].push_back(place);
      if (seen.insert(each).second) open.push_back(std::move(each));
    }
  }
  std::set<std::string> leads = {name};
  for (std::vector<std::string> open = {name}; !open.empty();) {
    const auto place = std::move(open.back());
    open.pop_back();
    for (const auto& each : before[place]) {
      if (leads.insert(each).second) open.push_back(each);
    }
  }
  std::erase_if(texts, [&leads](const std::string& each) { return !leads.contains(each); });
  return texts;
}

result<void> check_owner(const entry_map& all, const std::string& name,
                         const nlohmann::json& options) {
  const auto found = options.find("owner");
  if (found == options.end() || !found->is_string() || found->get<std::string>().empty()) {
    return {};
  }
  const std::string owner = *found;
  const std::string operation = "make '" + owner + "' the owner of '" + name + "'";
  if (reaches(all, {owner}, name, owners_of)) {
    return failure(errc::conflict, operation, "it would own itself through '" + name + "'",
                   "choose another owner");
  }
  const auto holder = all.find(owner);
  if (holder == all.end() || !holder->second->is_stored()) {
    std::vector<std::string> known;
    for (const auto& [other, each] : all) known.push_back(other);
    return failure(errc::not_found, operation,
                   "no runtime has this name" + text::did_you_mean(owner, known),
                   "create it first");
  }
  return {};
}

result<void> check_needs(const entry_map& all, const given_members& members,
                         const std::string& name, std::vector<std::string> needs,
                         const std::vector<std::string>& before) {
  if (reaches(all, needs, name, needs_of)) {
    return failure(errc::conflict, "make '" + name + "' connect to '" + needs.front() + "'",
                   "it would wait for itself", "connect to another runtime");
  }
  // A runtime that was needed already may lead back to this one by now: members of a group do not
  // connect to those that do.
  std::erase_if(needs, [&before](const std::string& each) {
    return std::ranges::find(before, each) != before.end();
  });
  const auto circular = leading_to(all, members, std::move(needs), name);
  if (circular.empty()) return {};
  return failure(errc::conflict, "make '" + name + "' connect to '" + circular.front() + "'",
                 "that runtime connects to it as one of a group",
                 "connect to another runtime, or change its group");
}

std::vector<entry_ref> children_of(const entry_map& all, const std::string& name) {
  std::vector<entry_ref> children;
  for (const auto& [child, each] : all) {
    const auto owners = owners_of(*each);
    if (std::ranges::find(owners, name) != owners.end()) children.push_back(each);
  }
  return children;
}

std::vector<std::string> running_that_need(const entry_map& all, const std::string& name) {
  std::vector<std::string> names;
  for (const auto& [other, each] : all) {
    const auto needs = each->body->needs();
    const bool does =
        each->state == run_state::running && std::ranges::find(needs, name) != needs.end();
    if (does) names.push_back(other);
  }
  return names;
}

std::vector<rank> by_needs(entry_map left, group_members members) {
  std::vector<rank> ranks;
  const auto is_left = [&left](const std::string& name) { return left.contains(name); };
  const auto is_free = [&](const entry& subject) {
    return std::ranges::none_of(subject.body->needs(), is_left);
  };
  const auto has_members = [&](const entry& subject) {
    return is_free(subject) && !follows_one(subject, left);
  };
  while (!left.empty()) {
    rank next;
    if (members == group_members::first) next = those_of(left, has_members);
    // A member may lead back to the one that follows its group.
    if (next.empty()) next = those_of(left, is_free);
    // Hand-edited files of a state folder may need each other.
    if (next.empty()) next = those_of(left, [](const entry&) { return true; });
    for (const auto& each : next) left.erase(each->name());
    ranks.push_back(std::move(next));
  }
  return ranks;
}

}  // namespace strata::daemon
