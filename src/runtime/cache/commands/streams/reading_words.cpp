#include "runtime/cache/commands/streams/reading_words.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace strata::runtime::cache {

namespace {

// Reads the milliseconds of BLOCK at word `index`; 0 means forever. Returns false after an error.
bool read_block_time(call& c, std::size_t index, reading_words& words) {
  const auto ms = c.integer(index, "ERR timeout is not an integer or out of range");
  if (!ms) return false;
  if (!c.who.may_block) {
    c.fail(fmt::format("ERR {} command is not allowed with BLOCK option from scripts", c[0]));
    return false;
  }
  if (*ms < 0) {
    c.fail("ERR timeout is negative");
    return false;
  }
  words.blocks = true;
  words.deadline_ms.reset();
  std::int64_t deadline = 0;
  // A time beyond all times is forever.
  if (*ms != 0 && !__builtin_add_overflow(*ms, c.now_ms(), &deadline)) {
    words.deadline_ms = deadline;
  }
  return true;
}

// Reads the words from STREAMS at word `index` on. Returns false after an error.
bool read_streams(call& c, std::size_t index, reading_words& words) {
  words.first_key = index + 1;
  const auto count = c.size() - words.first_key;
  words.keys = count / 2;
  if (count % 2 == 0) return true;
  c.fail(
      "ERR Unbalanced XREAD list of streams: for each stream key an ID or '$' must be specified.");
  return false;
}

bool refuse_group_option(call& c, std::string_view option) {
  c.fail(fmt::format("ERR The {} option is only supported by XREADGROUP. You called XREAD instead.",
                     option));
  return false;
}

// Reads the milliseconds of CLAIM at word `index`. Returns false after an error.
bool read_claim_time(call& c, std::size_t index, reading_words& words) {
  words.claim_idle_ms = c.integer(index, "ERR min-idle-time is not an integer or out of range");
  if (!words.claim_idle_ms) return false;
  if (*words.claim_idle_ms >= 0) return true;
  c.fail("ERR min-idle-time must be a positive integer");
  return false;
}

// Reads the option at word `index`, and moves to its last word. Returns false after an error.
bool read_reading_option(call& c, std::size_t& index, reading_words& words) {
  const auto following = c.size() - index - 1;
  if (following >= 1 && c.is(index, "BLOCK")) return read_block_time(c, ++index, words);
  if (following >= 1 && c.is(index, "COUNT")) {
    const auto count = c.integer(++index);
    if (!count) return false;
    words.count = static_cast<std::uint64_t>(std::max<std::int64_t>(*count, 0));
    return true;
  }
  if (following >= 2 && c.is(index, "GROUP")) {
    if (!words.in_group) return refuse_group_option(c, "GROUP");
    words.group_index = index + 1;
    index += 2;
    return true;
  }
  if (following >= 1 && c.is(index, "CLAIM") && c.knows(version_8_4)) {
    if (!words.in_group) return refuse_group_option(c, "CLAIM");
    return read_claim_time(c, ++index, words);
  }
  if (c.is(index, "NOACK")) {
    if (!words.in_group) return refuse_group_option(c, "NOACK");
    words.acknowledges = true;
    return true;
  }
  c.fail_syntax();
  return false;
}

}  // namespace

std::optional<reading_words> read_reading_words(call& c, bool in_group) {
  reading_words words{.in_group = in_group};
  for (std::size_t i = 1; i < c.size(); ++i) {
    if (i + 1 < c.size() && c.is(i, "STREAMS")) {
      if (!read_streams(c, i, words)) return {};
      break;
    }
    if (!read_reading_option(c, i, words)) return {};
  }
  if (words.first_key == 0) {
    c.fail_syntax();
    return {};
  }
  if (in_group && words.group_index == 0) {
    c.fail("ERR Missing GROUP option for XREADGROUP");
    return {};
  }
  return words;
}

}  // namespace strata::runtime::cache
