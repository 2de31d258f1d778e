// Scans the keys of a database.
#include "runtime/cache/commands/commands.hpp"
#include "runtime/cache/commands/scan_words.hpp"
#include "runtime/cache/engine/call.hpp"
#include "text/word.hpp"

namespace strata::runtime::cache {

namespace {

// Parses like C's strtoul: an empty text is 0, and a sign may come first.
std::optional<std::uint64_t> parse_cursor(std::string_view text) {
  if (text.empty()) return 0;
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  std::uint64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return {};
  return negative ? -value : value;
}

bool is_over(const call& c, const entry& entry) {
  return entry.has_expiry() && entry.expires_at_ms() <= c.now_ms();
}

void scan(call& c) {
  const auto words = read_scan_words(c, 1, true);
  if (!words) return;
  std::vector<std::string_view> found;
  const auto next = scan_enough(*words, [&](std::uint64_t cursor, std::int64_t& seen) {
    return c.data().scan(cursor, [&](const entry* each) {
      ++seen;
      if (words->type && !text::same_text(name_of(each->type()), *words->type)) return;
      if (words->matches(each->key()) && !is_over(c, *each)) found.push_back(each->key());
    });
  });
  reply_scan(c, next, found.size());
  for (const auto& each : found) c.reply.bulk(each);
}

void keys(call& c) {
  std::vector<std::string_view> found;
  c.data().for_each([&](const entry* each) {
    if (text::matches_pattern(c[1], each->key()) && !is_over(c, *each))
      found.push_back(each->key());
  });
  c.reply.array(found.size());
  for (const auto& each : found) c.reply.bulk(each);
}

// clang-format off
const command_row scan_rows[] = {
    {"keys", 2, "readonly", {0, 0, 0},
     "", "keyspace dangerous", "1.0.0",
     "returns all keys that match a pattern", keys},
    {"scan", -2, "readonly", {0, 0, 0},
     "", "keyspace", "2.8.0",
     "iterates over the keys of a database", scan},
};
// clang-format on

}  // namespace

std::optional<std::uint64_t> read_scan_cursor(call& c, std::size_t index) {
  const auto cursor = parse_cursor(c[index]);
  if (!cursor) c.fail("ERR invalid cursor");
  return cursor;
}

std::optional<scan_words> read_scan_words(call& c, std::size_t index, bool takes_type) {
  scan_words read;
  const auto cursor = read_scan_cursor(c, index);
  if (!cursor) return {};
  read.cursor = *cursor;
  for (auto i = index + 1; i < c.size(); i += 2) {
    const bool has_value = i + 1 < c.size();
    if (c.is(i, "COUNT") && has_value) {
      const auto count = c.integer(i + 1);
      if (!count) return {};
      if (*count < 1) {
        c.fail_syntax();
        return {};
      }
      read.count = *count;
    } else if (c.is(i, "MATCH") && has_value) {
      if (c[i + 1] != "*") read.pattern = c[i + 1];
    } else if (c.is(i, "TYPE") && has_value && takes_type) {
      read.type = c[i + 1];
    } else {
      c.fail_syntax();
      return {};
    }
  }
  return read;
}

void reply_scan(call& c, std::uint64_t cursor, std::size_t count) {
  c.reply.array(2);
  c.reply.bulk(std::to_string(cursor));
  c.reply.array(count);
}

command_group scan_commands() { return {"generic", scan_rows}; }

}  // namespace strata::runtime::cache
