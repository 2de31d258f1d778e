#include "cli/stack/selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/daemon_client/names.hpp"
#include "stack/membership.hpp"
#include "text/nearest.hpp"

namespace strata::cli {

outcome<std::vector<stack::described_runtime>> select_runtimes(const stack::document& document,
                                                               std::span<const std::string> words) {
  if (words.empty()) return document.runtimes;
  std::set<std::string> names;
  for (const auto& word : words) {
    const bool is_described = std::ranges::any_of(
        document.runtimes, [&word](const auto& each) { return each.desired.name == word; });
    if (!is_described) {
      std::vector<std::string> known;
      known.reserve(document.runtimes.size());
      for (const auto& each : document.runtimes) known.push_back(each.desired.name);
      return refuse(exit_not_found,
                    fmt::format("the stack '{}' describes no runtime '{}'{}", document.name, word,
                                text::did_you_mean(word, known)));
    }
    names.insert(word);
  }
  // From the last one on: what a runtime needs stands before it.
  std::vector<stack::described_runtime> selected;
  for (auto each = document.runtimes.rbegin(); each != document.runtimes.rend(); ++each) {
    if (!names.contains(each->desired.name)) continue;
    names.insert(each->needs.begin(), each->needs.end());
    selected.push_back(*each);
  }
  std::ranges::reverse(selected);
  return selected;
}

outcome<std::vector<std::string>> members_of(control_client& client, const std::string& stack) {
  const auto listed = client.get("/v1/runtimes");
  if (!listed) return std::unexpected(listed.error());
  std::vector<std::string> members;
  for (const auto& each : known_runtimes(*listed)) {
    const auto label = each.labels.find(std::string(stack::stack_label));
    if (label != each.labels.end() && label->second == stack) members.push_back(each.name);
  }
  return members;
}

}  // namespace strata::cli
