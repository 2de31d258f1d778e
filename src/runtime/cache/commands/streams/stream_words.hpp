// Words that several commands on streams have: ids, intervals and the options of trimming; and
// entries in replies.
#pragma once

#include <optional>
#include <string_view>

#include "runtime/cache/engine/call.hpp"
#include "runtime/cache/values/streams/stream_value.hpp"

namespace strata::runtime::cache {

/// Returns what C sees of a text: the part before the first NUL. Redis formats errors so.
[[nodiscard]] inline std::string_view before_nul(std::string_view text) {
  return text.substr(0, text.find('\0'));
}

/// An id in a word, and whether the word leaves the sequence open: "1700000000000-*".
struct parsed_id {
  stream_id id;
  bool has_open_sequence = false;
};

/// Parses "ms" or "ms-sequence"; `sequence` is the one for the short form. Takes "ms-*" only if
/// `may_be_open`. Returns nullopt for everything else, "-" and "+" included.
[[nodiscard]] std::optional<parsed_id> parse_stream_id(std::string_view word,
                                                       std::uint64_t sequence, bool may_be_open);

/// As `parse_stream_id`; replies with an error if the word is no id.
[[nodiscard]] std::optional<stream_id> read_stream_id(call& c, std::size_t index);
/// As `read_stream_id`; "-" and "+" are the lowest and the highest id.
[[nodiscard]] std::optional<stream_id> read_stream_id_or_end(call& c, std::size_t index,
                                                             std::uint64_t sequence = 0);
/// Reads ids from word `first` on. Returns nullopt after an error.
[[nodiscard]] std::optional<std::vector<stream_id>> read_stream_ids(call& c, std::size_t first);

enum class interval_end : std::uint8_t { first, last };
/// Reads one end of an interval, which "(" in front excludes. Returns nullopt after an error.
[[nodiscard]] std::optional<stream_id> read_interval_end(call& c, std::size_t index,
                                                         interval_end end);

/// What removing an entry does to the pending entries of groups that refer to it: the options
/// KEEPREF, DELREF and ACKED of Redis 8.2.
enum class reference_policy : std::uint8_t {
  keep,
  remove,
  require_none,  ///< removes only entries that every group has read and acknowledged
};
/// Finds the option at word `index`; nullopt if it is none, or the cache's version has none.
[[nodiscard]] std::optional<reference_policy> find_reference_policy(const call& c,
                                                                    std::size_t index);

/// The words of XADD and XTRIM between the key and the fields.
struct addition_words {
  std::optional<stream_trimming> trimming;
  std::size_t threshold_index = 0;  ///< of the word behind MAXLEN or MINID
  std::optional<parsed_id> id;      ///< XADD; null for "*"
  std::size_t id_index = 0;         ///< the number of words if there is none
  bool makes_stream = true;
  std::optional<reference_policy> references;
};
/// Reads them from word 2 on. Returns nullopt after an error.
[[nodiscard]] std::optional<addition_words> read_addition_words(call& c, bool is_addition);

/// Propagates the words of a command that has trimmed a stream, so that another server removes the
/// same entries: approximate trimming becomes exact. `id` is the given id, or empty for the
/// command's own word.
void propagate_trimming(call& c, const stream_value& stream, const addition_words& words,
                        std::string_view id);

/// Replies with an id, and with an entry: its id, its fields, and what the caller writes behind
/// them if there are more than two parts.
void reply_stream_id(call& c, const stream_id& id);
void reply_stream_entry(call& c, const stream_entry& entry, std::uint64_t parts = 2);
/// Replies with the entries of an interval, at most `limit`.
void reply_stream_range(call& c, const stream_value& stream, stream_id first, stream_id last,
                        std::uint64_t limit, bool backwards);
/// Replies with one entry, if it exists; reports whether it does.
bool reply_one_entry(call& c, const stream_value& stream, stream_id id, std::uint64_t parts = 2);

}  // namespace strata::runtime::cache
