// Commands on the bits of strings. Bit 0 is the most significant of the first byte.
#include <algorithm>
#include <bit>
#include <cstring>

#include "runtime/cache/commands/bit_offset.hpp"
#include "runtime/cache/commands/commands.hpp"
#include "runtime/cache/commands/strings/string_bytes.hpp"
#include "runtime/cache/engine/call.hpp"
#include "text/word.hpp"

namespace strata::runtime::cache {

namespace {

void setbit(call& c) {
  const auto offset = parse_bit_offset(c, 2);
  if (!offset) return;
  const auto bit = text::parse_integer(c[3]);
  if (!bit || (*bit != 0 && *bit != 1)) {
    c.fail("ERR bit is not an integer or out of range");
    return;
  }
  const auto opened = c.open_string(c.find(1));
  if (!opened) return;
  entry* found = *opened;
  const bool grows = found == nullptr || string_view_of(*found).view().size() < *offset / 8 + 1;
  auto* const bytes = reinterpret_cast<unsigned char*>(widen(c, found, *offset / 8 + 1));
  const unsigned mask = 0x80U >> (*offset % 8);
  auto& byte = bytes[*offset / 8];
  const bool before = (byte & mask) != 0;
  byte = static_cast<unsigned char>(*bit == 1 ? byte | mask : byte & ~mask);
  c.reply.integer(before ? 1 : 0);
  if (grows || before != (*bit == 1)) c.changed(c[1], event_string, "setbit");
}

void getbit(call& c) {
  const auto offset = parse_bit_offset(c, 2);
  if (!offset) return;
  const auto found = c.open_string(c.read(1));
  if (!found) return;
  if (*found == nullptr) {
    c.reply.integer(0);
    return;
  }
  const string_view_of text(**found);
  const auto index = *offset / 8;
  const bool is_set =
      index < text.view().size() &&
      (static_cast<unsigned char>(text.view()[index]) & (0x80U >> *offset % 8)) != 0;
  c.reply.integer(is_set ? 1 : 0);
}

// The bits of a text from `first` to `last`, inclusive.
struct bit_span {
  std::size_t first = 0;
  std::size_t last = 0;
  bool is_empty = true;
};

std::optional<bool> read_unit(call& c, std::size_t index) {
  if (c.is(index, "BIT")) return true;
  if (c.is(index, "BYTE")) return false;
  c.fail_syntax();
  return {};
}

bit_span clamp_bits(std::int64_t first, std::int64_t last, bool in_bits, std::size_t bytes) {
  const auto total = static_cast<std::int64_t>(in_bits ? bytes * 8 : bytes);
  if (first < 0) first = std::max<std::int64_t>(first + total, 0);
  if (last < 0) last = std::max<std::int64_t>(last + total, 0);
  last = std::min(last, total - 1);
  if (first > last) return {};
  const std::int64_t unit = in_bits ? 1 : 8;
  return {static_cast<std::size_t>(first * unit), static_cast<std::size_t>((last + 1) * unit - 1),
          false};
}

std::int64_t count_bits(std::string_view text, bit_span span) {
  if (span.is_empty) return 0;
  std::int64_t count = 0;
  const auto first_byte = span.first / 8;
  const auto last_byte = span.last / 8;
  const auto byte_at = [&](std::size_t index) {
    auto byte = static_cast<unsigned>(static_cast<unsigned char>(text[index]));
    if (index == first_byte) byte &= 0xFFU >> span.first % 8;
    if (index == last_byte) byte &= 0xFFU << (7 - span.last % 8) & 0xFFU;
    return byte;
  };
  count += std::popcount(byte_at(first_byte));
  auto index = first_byte + 1;
  for (; index + 8 <= last_byte; index += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + index, sizeof word);
    count += std::popcount(word);
  }
  for (; index <= last_byte; ++index) count += std::popcount(byte_at(index));
  return count;
}

void bitcount(call& c) {
  const auto found = c.open_string(c.read(1));
  if (!found) return;
  if (*found == nullptr) {
    c.reply.integer(0);
    return;
  }
  if (c.size() == 3 || c.size() > 5) {
    c.fail_syntax();
    return;
  }
  std::int64_t first = 0;
  std::int64_t last = -1;
  bool in_bits = false;
  if (c.size() > 2) {
    const auto from = c.integer(2);
    const auto to = from ? c.integer(3) : std::nullopt;
    if (!to) return;
    first = *from;
    last = *to;
    // Both are from the end, in the wrong order: the result is 0, though clamping would find a
    // byte.
    if (first < 0 && last < 0 && first > last) {
      c.reply.integer(0);
      return;
    }
    const auto unit = c.size() == 5 ? read_unit(c, 4) : std::optional(false);
    if (!unit) return;
    in_bits = *unit;
  }
  const string_view_of text(**found);
  c.reply.integer(count_bits(text.view(), clamp_bits(first, last, in_bits, text.view().size())));
}

std::int64_t find_bit(std::string_view text, bool bit, bit_span span) {
  const unsigned char skipped = bit ? 0x00 : 0xFF;
  for (auto at = span.first; at <= span.last;) {
    const auto byte = static_cast<unsigned char>(text[at / 8]);
    if (at % 8 == 0 && byte == skipped) {
      at += 8;
      continue;
    }
    if (((byte & (0x80U >> at % 8)) != 0) == bit) return static_cast<std::int64_t>(at);
    ++at;
  }
  return -1;
}

// Reads the range of BITPOS, words 3 to 5. Replies with an error and returns nullopt if it is
// wrong.
std::optional<bit_span> read_bitpos_range(call& c, std::size_t bytes) {
  if (c.size() > 6) {
    c.fail_syntax();
    return {};
  }
  std::int64_t first = 0;
  std::int64_t last = -1;
  bool in_bits = false;
  if (c.size() > 3) {
    const auto from = c.integer(3);
    if (!from) return {};
    first = *from;
  }
  if (c.size() == 6) {
    const auto unit = read_unit(c, 5);
    if (!unit) return {};
    in_bits = *unit;
  }
  if (c.size() > 4) {
    const auto to = c.integer(4);
    if (!to) return {};
    last = *to;
  }
  return clamp_bits(first, last, in_bits, bytes);
}

void bitpos(call& c) {
  const auto bit = c.integer(2);
  if (!bit) return;
  if (*bit != 0 && *bit != 1) {
    c.fail("ERR The bit argument must be 1 or 0.");
    return;
  }
  const auto found = c.open_string(c.read(1));
  if (!found) return;
  if (*found == nullptr) {
    c.reply.integer(*bit == 1 ? -1 : 0);
    return;
  }
  const string_view_of text(**found);
  const auto where = read_bitpos_range(c, text.view().size());
  if (!where) return;
  if (where->is_empty) {
    c.reply.integer(-1);
    return;
  }
  auto position = find_bit(text.view(), *bit == 1, *where);
  // A string continues with zeros, unless its end was given.
  if (position < 0 && *bit == 0 && c.size() <= 4) {
    position = static_cast<std::int64_t>(text.view().size() * 8);
  }
  c.reply.integer(position);
}

enum class operation : std::uint8_t {
  conjunction,
  disjunction,
  difference,
  negation,
  // Of Redis 8.2. The first three compare the first string with the union of the others.
  only_first,
  only_others,
  first_and_others,
  exactly_one
};

std::optional<operation> read_operation(call& c) {
  if (c.is(1, "AND")) return operation::conjunction;
  if (c.is(1, "OR")) return operation::disjunction;
  if (c.is(1, "XOR")) return operation::difference;
  if (c.is(1, "NOT")) return operation::negation;
  if (c.knows(version_8_2)) {
    if (c.is(1, "DIFF")) return operation::only_first;
    if (c.is(1, "DIFF1")) return operation::only_others;
    if (c.is(1, "ANDOR")) return operation::first_and_others;
    if (c.is(1, "ONE")) return operation::exactly_one;
  }
  c.fail_syntax();
  return {};
}

bool has_first(operation operation) {
  return operation == operation::only_first || operation == operation::only_others ||
         operation == operation::first_and_others;
}

// Returns false after an error.
bool check_operation(call& c, operation operation) {
  if (operation == operation::negation && c.size() != 4) {
    c.fail("ERR BITOP NOT must be called with a single source key.");
    return false;
  }
  if (has_first(operation) && c.size() < 5) {
    c.fail("ERR BITOP " + text::in_capitals(c[1]) +
           " must be called with at least two source keys.");
    return false;
  }
  return true;
}

// Combines a string's byte with those before it. `several` has the bits that were set more than
// once.
char combine(operation operation, char left, char right, char& several) {
  switch (operation) {
    case operation::conjunction: return static_cast<char>(left & right);
    case operation::difference: return static_cast<char>(left ^ right);
    case operation::exactly_one:
      several = static_cast<char>(several | (left & right));
      return static_cast<char>(left | right);
    default: return static_cast<char>(left | right);
  }
}

char combine_first(operation operation, char first, char others) {
  switch (operation) {
    case operation::only_first: return static_cast<char>(first & ~others);
    case operation::only_others: return static_cast<char>(others & ~first);
    default: return static_cast<char>(first & others);
  }
}

// Combines the strings at the words from `index` on. Returns nullopt after an error.
std::optional<std::string> combine_strings(call& c, operation operation, std::size_t index) {
  std::string combined;
  std::string several;
  for (auto i = index; i < c.size(); ++i) {
    const auto found = c.open_string(c.read(i));
    if (!found) return {};
    std::optional<string_view_of> held;
    if (*found != nullptr) held.emplace(**found);
    const auto text = held ? held->view() : std::string_view();
    if (i == index) {
      combined = text;
      continue;
    }
    if (text.size() > combined.size()) combined.resize(text.size());
    if (operation == operation::exactly_one) several.resize(combined.size());
    char unused = 0;
    for (std::size_t at = 0; at < combined.size(); ++at) {
      combined[at] = combine(operation, combined[at], at < text.size() ? text[at] : '\0',
                             several.empty() ? unused : several[at]);
    }
  }
  for (std::size_t at = 0; at < several.size(); ++at) {
    combined[at] = static_cast<char>(combined[at] & ~several[at]);
  }
  return combined;
}

// Combines the first string with the union of the others. Returns nullopt after an error.
std::optional<std::string> combine_with_first(call& c, operation operation) {
  auto others = combine_strings(c, operation::disjunction, 4);
  if (!others) return {};
  const auto found = c.open_string(c.read(3));
  if (!found) return {};
  std::optional<string_view_of> held;
  if (*found != nullptr) held.emplace(**found);
  const auto first = held ? held->view() : std::string_view();
  if (first.size() > others->size()) others->resize(first.size());
  for (std::size_t at = 0; at < others->size(); ++at) {
    auto& each = (*others)[at];
    each = combine_first(operation, at < first.size() ? first[at] : '\0', each);
  }
  return others;
}

void bitop(call& c) {
  const auto how = read_operation(c);
  if (!how || !check_operation(c, *how)) return;
  auto combined = has_first(*how) ? combine_with_first(c, *how) : combine_strings(c, *how, 3);
  if (!combined) return;
  auto& made = *combined;
  if (*how == operation::negation) {
    for (auto& each : made) each = static_cast<char>(~each);
  }
  // A follower or a log of Redis 7.0 does not know the operations of later versions.
  const bool is_new = has_first(*how) || *how == operation::exactly_one;
  const auto hash = c.hash(2);
  if (!made.empty()) {
    c.store(entry::make_bytes(c[2], made), hash);
    c.changed(c[2], event_string, "set");
    if (is_new) c.propagate_as("SET", c[2], std::string_view(made));
  } else if (entry* const old = c.find(2)) {
    if (is_new) c.propagate_as("DEL", c[2]);
    c.remove(old, hash);
    c.keys().changes().record();
  }
  c.reply.integer(static_cast<std::int64_t>(made.size()));
}

// clang-format off
const command_row bit_rows[] = {
    {"bitcount", -2, "readonly", {1, 1, 1},
     "RO access 1 0 1", "bitmap", "2.6.0",
     "counts the set bits of a string", bitcount},
    {"bitop", -4, "write denyoom", {2, -1, 1},
     "OW update 2 0 1; RO access 3 -1 1", "bitmap", "2.6.0",
     "stores the bitwise AND, OR, XOR or NOT of strings", bitop},
    {"bitpos", -3, "readonly", {1, 1, 1},
     "RO access 1 0 1", "bitmap", "2.8.7",
     "returns the position of the first set or clear bit", bitpos},
    {"getbit", 3, "readonly fast", {1, 1, 1},
     "RO access 1 0 1", "bitmap", "2.2.0",
     "returns one bit of a string", getbit},
    {"setbit", 4, "write denyoom", {1, 1, 1},
     "RW access update 1 0 1", "bitmap", "2.2.0",
     "sets or clears one bit of a string", setbit},
};
// clang-format on

}  // namespace

std::optional<std::uint64_t> parse_bit_offset(call& c, std::size_t index, unsigned width) {
  constexpr std::string_view error = "ERR bit offset is not an integer or out of range";
  auto text = c[index];
  const bool in_units = width != 0 && text.starts_with('#');
  if (in_units) text.remove_prefix(1);
  const auto value = text::parse_integer(text);
  std::int64_t offset = value.value_or(-1);
  if (in_units && __builtin_mul_overflow(offset, width, &offset)) offset = -1;
  if (offset < 0 || offset / 8 >= c.home().settings().max_bulk) {
    c.fail(error);
    return {};
  }
  return static_cast<std::uint64_t>(offset);
}

command_group bit_commands() { return {"bitmap", bit_rows}; }

}  // namespace strata::runtime::cache
