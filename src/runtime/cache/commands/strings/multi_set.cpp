// MSETEX of Redis 8.4: sets several strings, on a condition, with one expiry.
#include <algorithm>

#include "runtime/cache/commands/commands.hpp"
#include "runtime/cache/commands/expiry_words.hpp"
#include "runtime/cache/engine/call.hpp"

namespace strata::runtime::cache {

namespace {

constexpr std::size_t first_key = 2;

struct multi_set_words {
  std::size_t end = 0;  // of the keys and values
  bool if_absent = false;
  bool if_present = false;
  bool keeps_expiry = false;
  std::optional<std::int64_t> expires_at_ms;
};

// Reads the number of keys. Returns the index behind their values, or nullopt after an error.
std::optional<std::size_t> read_end_of_pairs(call& c) {
  const auto count = text::parse_integer(c[1]);
  if (!count || *count < 1 || *count > INT32_MAX) {
    c.fail("ERR invalid numkeys value");
    return {};
  }
  const auto pairs = static_cast<std::size_t>(*count);
  if (pairs > (c.size() - first_key) / 2) {
    c.fail("ERR wrong number of key-value pairs");
    return {};
  }
  return first_key + 2 * pairs;
}

// Reports other mistakes before a wrong time. Returns nullopt after an error.
std::optional<multi_set_words> read_multi_set_words(call& c) {
  const auto end = read_end_of_pairs(c);
  if (!end) return {};
  multi_set_words read{.end = *end};
  const expiry_word* unit = nullptr;
  std::size_t time = 0;
  for (auto i = *end; i < c.size(); ++i) {
    const auto* const word = find_expiry_word(c[i]);
    if (c.is(i, "NX") && !read.if_present) {
      read.if_absent = true;
    } else if (c.is(i, "XX") && !read.if_absent) {
      read.if_present = true;
    } else if (c.is(i, "KEEPTTL") && unit == nullptr) {
      read.keeps_expiry = true;
    } else if (word != nullptr && i + 1 < c.size() && !read.keeps_expiry && unit == nullptr) {
      unit = word;
      time = ++i;
    } else {
      c.fail_syntax();
      return {};
    }
  }
  if (unit == nullptr) return read;
  read.expires_at_ms = parse_expiry(c, time, *unit);
  if (!read.expires_at_ms) return {};
  return read;
}

bool passes_condition(const call& c, const multi_set_words& words) {
  if (!words.if_absent && !words.if_present) return true;
  for (auto i = first_key; i < words.end; i += 2) {
    const bool exists = c.keys().find(c.who.database, c[i], c.hash(i)) != nullptr;
    if (exists ? words.if_absent : words.if_present) return false;
  }
  return true;
}

void set_pair(call& c, std::size_t key, const multi_set_words& words) {
  const auto hash = c.hash(key);
  auto expires = words.expires_at_ms.value_or(entry::never);
  if (words.keeps_expiry) {
    const entry* const old = c.keys().find(c.who.database, c[key], hash);
    if (old != nullptr) expires = old->expires_at_ms();
  }
  c.store(entry::make_text(c[key], c[key + 1], expires), hash);
  c.changed(c[key], event_string, "set");
  if (words.expires_at_ms) c.keys().notify(event_generic, "expire", c[key], c.who.database);
}

// In commands that every version has.
void propagate_pairs(call& c, const multi_set_words& words) {
  const auto pairs = c.words.subspan(first_key, words.end - first_key);
  if (!words.keeps_expiry && !words.expires_at_ms) {
    std::vector<std::string_view> sent = {"MSET"};
    sent.insert(sent.end(), pairs.begin(), pairs.end());
    c.propagate_list(sent);
    return;
  }
  if (pairs.size() > 2) c.propagate_together();
  for (std::size_t i = 0; i < pairs.size(); i += 2) {
    if (words.keeps_expiry) {
      c.propagate_as("SET", pairs[i], pairs[i + 1], "KEEPTTL");
    } else {
      c.propagate_as("SET", pairs[i], pairs[i + 1], "PXAT",
                     text::integer_text(*words.expires_at_ms).view());
    }
  }
}

void msetex(call& c) {
  const auto words = read_multi_set_words(c);
  if (!words) return;
  if (!passes_condition(c, *words)) {
    c.reply.integer(0);
    return;
  }
  for (auto i = first_key; i < words->end; i += 2) set_pair(c, i, *words);
  propagate_pairs(c, *words);
  c.reply.integer(1);
}

// clang-format off
const command_row multi_set_rows[] = {
    {"msetex", -4, "write denyoom movablekeys", {0, 0, 0},
     "OW update 1 n0 1 2", "string", "8.4.0",
     "sets several keys to strings with one expiry, on a condition", msetex},
};
// clang-format on

}  // namespace

command_group multi_set_commands() { return {"string", multi_set_rows}; }

}  // namespace strata::runtime::cache
