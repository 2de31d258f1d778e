#include "runtime/cache/commands/streams/stream_group_words.hpp"

#include <fmt/format.h>

namespace strata::runtime::cache {

std::optional<found_group> read_group(call& c, std::size_t key) {
  const auto stream = c.read_as<stream_value>(key);
  if (!stream) return {};
  if (*stream == nullptr) return found_group{};
  stream_group* const group = (*stream)->find_group(c[key + 1]);
  return group == nullptr ? found_group{} : found_group{*stream, group};
}

std::optional<found_group> require_group(call& c) {
  const auto found = read_group(c, 1);
  if (!found || *found) return found;
  c.fail(fmt::format("NOGROUP No such key '{}' or consumer group '{}'", before_nul(c[1]),
                     before_nul(c[2])));
  return {};
}

stream_consumer& seen_consumer(call& c, std::string_view key, stream_group& group,
                               std::string_view name) {
  if (auto* const found = group.find_consumer(name)) {
    found->seen_ms = c.now_ms();
    return *found;
  }
  auto& made = group.add_consumer(name, c.now_ms());
  c.keys().changes().record();
  c.keys().notify(event_stream, "xgroup-createconsumer", key, c.who.database);
  return made;
}

void group_changes::add_consumer(std::string_view name) {
  if (!are_heard_) return;
  commands_.push_back(
      {"XGROUP", "CREATECONSUMER", std::string(key_), std::string(group_name_), std::string(name)});
}

void group_changes::add_delivery(std::string_view id, const pending_entry& entry) {
  if (!are_heard_) return;
  commands_.push_back({"XCLAIM", std::string(key_), std::string(group_name_),
                       std::string(entry.consumer->name), "0", std::string(id), "TIME",
                       std::to_string(entry.delivered_ms), "RETRYCOUNT",
                       std::to_string(static_cast<std::int64_t>(entry.deliveries)), "FORCE",
                       "JUSTID", "LASTID", std::string(stream_id_text(group_.last_id).view())});
}

void group_changes::add_position() {
  if (!are_heard_) return;
  commands_.push_back({"XGROUP", "SETID", std::string(key_), std::string(group_name_),
                       std::string(stream_id_text(group_.last_id).view()), "ENTRIESREAD",
                       std::to_string(group_.entries_read)});
}

void group_changes::propagate(call& c, const std::vector<std::vector<std::string>>& commands) {
  c.propagate_nothing();
  if (commands.size() > 1) c.propagate_together();
  for (const auto& each : commands) {
    const std::vector<std::string_view> words(each.begin(), each.end());
    c.propagate_list(words);
  }
}

}  // namespace strata::runtime::cache
