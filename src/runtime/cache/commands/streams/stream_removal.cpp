#include "runtime/cache/commands/streams/stream_removal.hpp"

#include <algorithm>
#include <span>

#include "runtime/cache/commands/streams/stream_group_words.hpp"

namespace strata::runtime::cache {

namespace {

// Appends the command once per `most_ids` ids: a server limits the words of a command.
void add_per_ids(std::vector<std::vector<std::string>>& commands,
                 const std::vector<std::string>& head, std::span<const stream_id> ids) {
  constexpr std::size_t most_ids = 1000;
  while (!ids.empty()) {
    const auto part = ids.first(std::min(ids.size(), most_ids));
    auto& command = commands.emplace_back(head);
    for (const auto& id : part) command.emplace_back(stream_id_text(id).view());
    ids = ids.subspan(part.size());
  }
}

}  // namespace

stream_removal::stream_removal(call& c, stream_value& stream)
    : call_(c), stream_(stream), is_heard_(c.keys().changes().has_listeners()) {}

bool stream_removal::erase(stream_id id) {
  if (!stream_.erase(id)) return false;
  if (is_heard_) erased_.push_back(id);
  return true;
}

bool stream_removal::acknowledge(std::string_view name, stream_group& group, stream_id id) {
  const auto place = group.pending().find(id);
  if (place == group.pending().end()) return false;
  group.erase_pending(place);
  call_.keys().changes().record();
  if (is_heard_) acknowledged_[std::string(name)].push_back(id);
  return true;
}

void stream_removal::erase_references(stream_id id) {
  for (auto& [name, group] : stream_.groups()) (void)acknowledge(name, group, id);
}

// Without groups there are no references.
bool stream_removal::keeps_referenced(const addition_words& words) const {
  return words.references == reference_policy::require_none && !stream_.groups().empty();
}

std::uint64_t stream_removal::trim(const addition_words& words) {
  if (!words.trimming) return 0;
  if (keeps_referenced(words)) {
    const auto ids = stream_.unreferenced(*words.trimming);
    for (const auto& id : ids) (void)erase(id);
    return ids.size();
  }
  if (words.references != reference_policy::remove || stream_.groups().empty()) {
    return stream_.trim(*words.trimming);
  }
  id_list removed;
  const auto count = stream_.trim(*words.trimming, &removed);
  for (const auto& id : removed) erase_references(id);
  return count;
}

// What was trimmed is what stands before the entries that are left.
void stream_removal::add_threshold(std::vector<std::string>& command,
                                   const addition_words& words) const {
  if (!words.trimming || keeps_referenced(words)) return;
  command.insert(command.end(), {"MAXLEN", "=", std::to_string(stream_.size())});
}

void stream_removal::add_removals(command_list& commands) const {
  const std::string key(call_[1]);
  for (const auto& [name, ids] : acknowledged_) add_per_ids(commands, {"XACK", key, name}, ids);
  add_per_ids(commands, {"XDEL", key}, erased_);
}

void stream_removal::propagate() {
  command_list commands;
  if (is_heard_) add_removals(commands);
  group_changes::propagate(call_, commands);
}

void stream_removal::propagate_addition(const addition_words& words, std::string_view id) {
  command_list commands;
  if (is_heard_) {
    auto& addition = commands.emplace_back();
    addition = {"XADD", std::string(call_[1])};
    add_threshold(addition, words);
    addition.emplace_back(id);
    for (const auto& each : call_.words.subspan(words.id_index + 1)) addition.emplace_back(each);
    add_removals(commands);
  }
  group_changes::propagate(call_, commands);
}

void stream_removal::propagate_trimming(const addition_words& words) {
  command_list commands;
  if (is_heard_) {
    std::vector<std::string> trimming = {"XTRIM", std::string(call_[1])};
    add_threshold(trimming, words);
    if (trimming.size() > 2) commands.push_back(std::move(trimming));
    add_removals(commands);
  }
  group_changes::propagate(call_, commands);
}

}  // namespace strata::runtime::cache
