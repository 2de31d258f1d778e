// What several commands on consumer groups need: the group that their words name, and the commands
// by which changes of groups are propagated.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/cache/commands/streams/stream_words.hpp"

namespace strata::runtime::cache {

/// A stream and one of its groups; both null if there is none.
struct found_group {
  stream_value* stream = nullptr;
  stream_group* group = nullptr;
  [[nodiscard]] explicit operator bool() const { return group != nullptr; }
};

/// Returns the group at the words `key` and `key` + 1; its members are null if there is none.
/// Returns nullopt after an error, for a value of another type.
[[nodiscard]] std::optional<found_group> read_group(call& c, std::size_t key);
/// As `read_group` for word 1, but a missing group is an error.
[[nodiscard]] std::optional<found_group> require_group(call& c);

/// Times from a snapshot can be any numbers, so differences must not overflow.
[[nodiscard]] inline std::int64_t elapsed_ms(std::int64_t now_ms, std::int64_t since_ms) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(now_ms) -
                                   static_cast<std::uint64_t>(since_ms));
}
[[nodiscard]] inline bool is_idle_for(const call& c, const pending_entry& entry,
                                      std::int64_t least_ms) {
  return least_ms == 0 || elapsed_ms(c.now_ms(), entry.delivered_ms) >= least_ms;
}

/// Returns a consumer, which is created if there is none. It counts as seen now.
stream_consumer& seen_consumer(call& c, std::string_view key, stream_group& group,
                               std::string_view name);

/// Changes of groups as commands that repeat them. What a command gives to consumers depends on
/// the clock and on what was read before, so that its own words would not repeat it.
class group_changes {
 public:
  /// The words that name the group must outlive the changes.
  group_changes(const call& c, std::string_view key, std::string_view group_name,
                const stream_group& group)
      : key_(key),
        group_name_(group_name),
        group_(group),
        are_heard_(c.keys().changes().has_listeners()) {}

  void add_consumer(std::string_view name);
  /// A delivery as it is now; `id` is its text.
  void add_delivery(std::string_view id, const pending_entry& entry);
  void add_position();
  [[nodiscard]] std::vector<std::vector<std::string>> take() { return std::move(commands_); }

  /// Propagates commands, as one transaction if there are several; nothing for the command itself.
  static void propagate(call& c, const std::vector<std::vector<std::string>>& commands);

 private:
  std::string_view key_;
  std::string_view group_name_;
  const stream_group& group_;
  bool are_heard_;
  std::vector<std::vector<std::string>> commands_;
};

}  // namespace strata::runtime::cache
