#include "runtime/cache/commands/streams/stream_words.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <charconv>

namespace strata::runtime::cache {

namespace {

constexpr std::string_view bad_id_error =
    "ERR Invalid stream ID specified as stream command argument";
constexpr std::size_t longest_id = 127;

// A number as strtoull reads it: spaces, a sign and leading zeros may be in front, and a negative
// number wraps around; but a plain negative number is none.
std::optional<std::uint64_t> parse_unsigned(std::string_view text) {
  if (const auto integer = text::parse_integer(text)) {
    if (*integer < 0) return {};
    return static_cast<std::uint64_t>(*integer);
  }
  while (!text.empty() && (text[0] == ' ' || (text[0] >= '\t' && text[0] <= '\r'))) {
    text.remove_prefix(1);
  }
  const bool is_negative = text.starts_with('-');
  if (is_negative || text.starts_with('+')) text.remove_prefix(1);
  std::uint64_t value = 0;
  const auto* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  if (read.ec != std::errc() || read.ptr != end) return {};
  return is_negative ? 0 - value : value;
}

}  // namespace

std::optional<parsed_id> parse_stream_id(std::string_view word, std::uint64_t sequence,
                                         bool may_be_open) {
  if (word.size() > longest_id) return {};
  word = before_nul(word);
  const auto dash = word.find('-');
  const auto ms = parse_unsigned(word.substr(0, dash));
  if (!ms) return {};
  if (dash == std::string_view::npos) return parsed_id{{*ms, sequence}};
  const auto rest = word.substr(dash + 1);
  if (may_be_open && rest == "*") return parsed_id{{*ms, 0}, true};
  const auto number = parse_unsigned(rest);
  if (!number) return {};
  return parsed_id{{*ms, *number}};
}

std::optional<stream_id> read_stream_id(call& c, std::size_t index) {
  const auto parsed = parse_stream_id(c[index], 0, false);
  if (!parsed) {
    c.fail(bad_id_error);
    return {};
  }
  return parsed->id;
}

std::optional<stream_id> read_stream_id_or_end(call& c, std::size_t index, std::uint64_t sequence) {
  const auto word = before_nul(c[index]);
  if (c[index].size() <= longest_id) {
    if (word == "-") return stream_id::lowest();
    if (word == "+") return stream_id::highest();
  }
  const auto parsed = parse_stream_id(c[index], sequence, false);
  if (!parsed) {
    c.fail(bad_id_error);
    return {};
  }
  return parsed->id;
}

std::optional<std::vector<stream_id>> read_stream_ids(call& c, std::size_t first) {
  std::vector<stream_id> ids;
  for (std::size_t i = first; i < c.size(); ++i) {
    const auto id = read_stream_id(c, i);
    if (!id) return {};
    ids.push_back(*id);
  }
  return ids;
}

std::optional<stream_id> read_interval_end(call& c, std::size_t index, interval_end end) {
  const bool is_first = end == interval_end::first;
  const std::uint64_t sequence = is_first ? 0 : UINT64_MAX;
  const auto word = c[index];
  if (word.size() < 2 || word[0] != '(') return read_stream_id_or_end(c, index, sequence);
  const auto parsed = parse_stream_id(word.substr(1), sequence, false);
  if (!parsed) {
    c.fail(bad_id_error);
    return {};
  }
  const auto inside = is_first ? parsed->id.next() : parsed->id.previous();
  if (!inside) {
    c.fail(is_first ? "ERR invalid start ID for the interval"
                    : "ERR invalid end ID for the interval");
  }
  return inside;
}

// --- trimming

namespace {

// Reads MAXLEN or MINID at word `index`, with its sign and threshold, and moves behind them.
bool read_threshold(call& c, addition_words& words, std::size_t& index) {
  if (words.trimming) {
    c.fail("ERR syntax error, MAXLEN and MINID options at the same time are not compatible");
    return false;
  }
  const bool is_length = c.is(index, "MAXLEN");
  auto& trimming = words.trimming.emplace();
  ++index;
  if (index + 1 < c.size() && (before_nul(c[index]) == "~" || before_nul(c[index]) == "=")) {
    trimming.is_approximate = c[index][0] == '~';
    ++index;
  }
  words.threshold_index = index;
  if (is_length) {
    const auto size = c.integer(index);
    if (!size) return false;
    if (*size < 0) {
      c.fail("ERR The MAXLEN argument must be >= 0.");
      return false;
    }
    trimming.max_size = static_cast<std::uint64_t>(*size);
    return true;
  }
  const auto id = read_stream_id(c, index);
  if (!id) return false;
  trimming.least_id = *id;
  return true;
}

// Sets how many entries may be removed. Returns false after an error.
bool set_limit(call& c, addition_words& words, std::optional<std::int64_t> limit) {
  if (!words.trimming && limit && *limit != 0) {
    c.fail("ERR syntax error, LIMIT cannot be used without specifying a trimming strategy");
    return false;
  }
  // What another server has trimmed must be trimmed here, however much it is.
  if (c.who.is_replay) return true;
  if (limit && !(words.trimming && words.trimming->is_approximate)) {
    c.fail("ERR syntax error, LIMIT cannot be used without the special ~ option");
    return false;
  }
  if (!words.trimming) return true;
  auto& trimming = *words.trimming;
  if (limit) {
    trimming.limit = *limit;
  } else if (trimming.is_approximate) {
    constexpr std::int64_t blocks = 100;
    constexpr std::int64_t most = 1'000'000;
    const auto entries = c.home().settings().stream_max_block_entries;
    trimming.limit = entries <= 0 ? 10'000 : std::min(entries, most / blocks) * blocks;
  }
  return true;
}

}  // namespace

std::optional<reference_policy> find_reference_policy(const call& c, std::size_t index) {
  if (!c.knows(version_8_2)) return {};
  if (c.is(index, "KEEPREF")) return reference_policy::keep;
  if (c.is(index, "DELREF")) return reference_policy::remove;
  if (c.is(index, "ACKED")) return reference_policy::require_none;
  return {};
}

std::optional<addition_words> read_addition_words(call& c, bool is_addition) {
  addition_words words;
  std::optional<std::int64_t> limit;
  std::size_t i = 2;
  for (; i < c.size(); ++i) {
    const bool has_value = i + 1 < c.size();
    if (is_addition && before_nul(c[i]) == "*") break;
    if (has_value && (c.is(i, "MAXLEN") || c.is(i, "MINID"))) {
      if (!read_threshold(c, words, i)) return {};
    } else if (has_value && c.is(i, "LIMIT")) {
      limit = c.integer(++i);
      if (!limit) return {};
      if (*limit < 0) {
        c.fail("ERR The LIMIT argument must be >= 0.");
        return {};
      }
    } else if (is_addition && c.is(i, "NOMKSTREAM")) {
      words.makes_stream = false;
    } else if (const auto policy = find_reference_policy(c, i)) {
      if (words.references) {
        c.fail_syntax();
        return {};
      }
      words.references = policy;
    } else if (is_addition) {
      words.id = parse_stream_id(c[i], 0, true);
      if (words.id) break;
      c.fail(bad_id_error);
      return {};
    } else {
      c.fail_syntax();
      return {};
    }
  }
  words.id_index = i;
  if (!set_limit(c, words, limit)) return {};
  if (!is_addition && !words.trimming) {
    c.fail("ERR syntax error, XTRIM must be called with a trimming strategy");
    return {};
  }
  return words;
}

void propagate_trimming(call& c, const stream_value& stream, const addition_words& words,
                        std::string_view id) {
  if (!c.keys().changes().has_listeners()) return;
  std::vector<std::string_view> sent(c.words.begin(), c.words.end());
  if (!id.empty()) sent[words.id_index] = id;
  std::string threshold;
  if (words.trimming && words.trimming->is_approximate) {
    if (words.trimming->max_size) {
      threshold = text::integer_text(static_cast<std::int64_t>(stream.size())).view();
    } else {
      threshold = stream_id_text(stream.end_id(true).value_or(stream_id::highest())).view();
    }
    sent[words.threshold_index - 1] = "=";
    sent[words.threshold_index] = threshold;
  }
  c.propagate_list(sent);
}

// --- replies

void reply_stream_id(call& c, const stream_id& id) { c.reply.bulk(stream_id_text(id).view()); }

void reply_stream_entry(call& c, const stream_entry& entry, std::uint64_t parts) {
  c.reply.array(parts);
  reply_stream_id(c, entry.id);
  c.reply.array(entry.fields * 2);
  entry.for_each_field([&c](std::string_view name, std::string_view value) {
    c.reply.bulk(name);
    c.reply.bulk(value);
  });
}

void reply_stream_range(call& c, const stream_value& stream, stream_id first, stream_id last,
                        std::uint64_t limit, bool backwards) {
  auto left = stream.count(first, last, limit);
  c.reply.array(left);
  stream_cursor cursor(stream, first, last, backwards);
  for (; left != 0 && cursor.next(); --left) reply_stream_entry(c, cursor.entry());
}

bool reply_one_entry(call& c, const stream_value& stream, stream_id id, std::uint64_t parts) {
  stream_cursor cursor(stream, id, id, false);
  if (!cursor.next()) return false;
  reply_stream_entry(c, cursor.entry(), parts);
  return true;
}

}  // namespace strata::runtime::cache
