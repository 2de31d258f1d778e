#include "cluster/circles.hpp"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

namespace strata::cluster {

namespace {

constexpr char mark = '@';

using visitor = std::function<void(const std::string& daemon, const runtime_card& runtime)>;

/// Calls `visit` with each runtime that `place`, a target of a runtime of `daemon`, stands for.
void for_each_at(const std::map<std::string, card>& cards, const std::string& daemon,
                 const std::string& place, const visitor& visit) {
  const bool is_group = place.starts_with(mark);
  const auto split = is_group ? std::string::npos : place.rfind(mark);
  const auto instance = place.find('#');
  const auto name = is_group ? place.substr(1) : place.substr(0, std::min(split, instance));
  const auto has = [&name](const card& card) {
    return std::ranges::find(card.runtimes, name, &runtime_card::name) != card.runtimes.end();
  };
  const auto own = cards.find(daemon);
  const bool is_near =
      !is_group && split == std::string::npos && own != cards.end() && has(own->second);
  const auto wanted = is_near                      ? daemon
                      : split == std::string::npos ? std::string()
                                                   : place.substr(split + 1);
  for (const auto& [other, card] : cards) {
    if (!wanted.empty() && other != wanted) continue;
    for (const auto& each : card.runtimes) {
      if ((is_group ? each.group : each.name) == name) visit(other, each);
    }
  }
}

}  // namespace

std::vector<std::string> leading_to(const std::map<std::string, card>& cards,
                                    std::vector<std::string> members, const std::string& target) {
  std::map<std::string, std::vector<std::string>> sources;  // of the connections to each runtime
  for (const auto& [daemon, card] : cards) {
    for (const auto& runtime : card.runtimes) {
      const auto from_name = runtime.name + mark + daemon;
      for (const auto& place : runtime.targets) {
        for_each_at(cards, daemon, place, [&](const std::string& other, const runtime_card& each) {
          sources[each.name + mark + other].push_back(from_name);
        });
      }
    }
  }
  std::set<std::string> leads = {target};
  for (std::vector<std::string> open = {target}; !open.empty();) {
    const auto next = std::move(open.back());
    open.pop_back();
    for (const auto& each : sources[next]) {
      if (leads.insert(each).second) open.push_back(each);
    }
  }
  std::erase_if(members, [&leads](const std::string& each) { return !leads.contains(each); });
  return members;
}

}  // namespace strata::cluster
