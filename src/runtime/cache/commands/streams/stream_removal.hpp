// Entries and pending entries that a command removes from the stream at its first key, and the
// commands that repeat it: a server of any version reads them.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/cache/commands/streams/stream_words.hpp"

namespace strata::runtime::cache {

class stream_removal {
 public:
  /// The stream must be the one at word 1, and outlive the removal.
  stream_removal(call& c, stream_value& stream);

  /// Removes an entry; reports whether it existed.
  bool erase(stream_id id);
  /// Removes a group's pending entry; reports whether it existed.
  bool acknowledge(std::string_view name, stream_group& group, stream_id id);
  /// Removes the pending entries of all groups that refer to the entry.
  void erase_references(stream_id id);
  /// Trims as the words of XADD or XTRIM say. Returns the number of entries removed.
  std::uint64_t trim(const addition_words& words);

  /// Propagates what was removed.
  void propagate();
  /// Propagates an addition, or XTRIM, and what was removed, for words with a reference policy.
  void propagate_addition(const addition_words& words, std::string_view id);
  void propagate_trimming(const addition_words& words);

 private:
  using command_list = std::vector<std::vector<std::string>>;
  using id_list = std::vector<stream_id>;

  [[nodiscard]] bool keeps_referenced(const addition_words& words) const;
  void add_threshold(std::vector<std::string>& command, const addition_words& words) const;
  void add_removals(command_list& commands) const;

  call& call_;
  stream_value& stream_;
  bool is_heard_;  // whether the lists are needed
  id_list erased_;
  std::map<std::string, id_list, std::less<>> acknowledged_;  // by group
};

}  // namespace strata::runtime::cache
