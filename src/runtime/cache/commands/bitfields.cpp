// Integers of any width within strings: BITFIELD.
#include <algorithm>

#include "runtime/cache/commands/bit_offset.hpp"
#include "runtime/cache/commands/commands.hpp"
#include "runtime/cache/commands/strings/string_bytes.hpp"
#include "runtime/cache/engine/call.hpp"

namespace strata::runtime::cache {

namespace {

enum class overflow : std::uint8_t { wrap, saturate, fail };

struct field_type {
  bool is_signed = false;
  unsigned bits = 0;
};

enum class action : std::uint8_t { get, set, add };

struct step {
  action what;
  field_type type;
  std::uint64_t offset;
  std::int64_t value;
  overflow how;
};

std::optional<field_type> read_type(call& c, std::size_t index) {
  const auto text = c[index];
  field_type read;
  read.is_signed = text.starts_with('i');
  const auto bits = text.size() > 1 && (read.is_signed || text.starts_with('u'))
                        ? text::parse_integer(text.substr(1))
                        : std::nullopt;
  if (!bits || *bits < 1 || *bits > (read.is_signed ? 64 : 63)) {
    c.fail(
        "ERR Invalid bitfield type. Use something like i16 u8. Note that u64 is not supported "
        "but i64 is.");
    return {};
  }
  read.bits = static_cast<unsigned>(*bits);
  return read;
}

std::optional<overflow> read_overflow(call& c, std::size_t index) {
  if (c.is(index, "WRAP")) return overflow::wrap;
  if (c.is(index, "SAT")) return overflow::saturate;
  if (c.is(index, "FAIL")) return overflow::fail;
  c.fail("ERR Invalid OVERFLOW type specified");
  return {};
}

std::optional<std::vector<step>> read_steps(call& c) {
  std::vector<step> steps;
  auto how = overflow::wrap;
  for (std::size_t i = 2; i < c.size(); ++i) {
    const auto left = c.size() - i - 1;
    if (c.is(i, "OVERFLOW") && left >= 1) {
      const auto read = read_overflow(c, ++i);
      if (!read) return {};
      how = *read;
      continue;
    }
    step made{action::get, {}, 0, 0, how};
    if (c.is(i, "GET") && left >= 2) {
      made.what = action::get;
    } else if (c.is(i, "SET") && left >= 3) {
      made.what = action::set;
    } else if (c.is(i, "INCRBY") && left >= 3) {
      made.what = action::add;
    } else {
      c.fail_syntax();
      return {};
    }
    const auto type = read_type(c, i + 1);
    if (!type) return {};
    const auto offset = parse_bit_offset(c, i + 2, type->bits);
    if (!offset) return {};
    made.type = *type;
    made.offset = *offset;
    i += 2;
    if (made.what != action::get) {
      const auto value = c.integer(++i);
      if (!value) return {};
      made.value = *value;
    }
    steps.push_back(made);
  }
  return steps;
}

std::int64_t read_field(std::string_view text, const step& step) {
  std::uint64_t value = 0;
  unsigned i = 0;
  // A field has at least one bit.
  do {
    const auto at = step.offset + i;
    const bool bit =
        at / 8 < text.size() && (static_cast<unsigned char>(text[at / 8]) & (0x80U >> at % 8)) != 0;
    value = value << 1U | (bit ? 1U : 0U);
  } while (++i < step.type.bits);
  if (!step.type.is_signed) return static_cast<std::int64_t>(value);
  const unsigned unused = 64 - step.type.bits;
  return static_cast<std::int64_t>(value << unused) >> unused;
}

void write_field(char* bytes, const step& step, std::int64_t value) {
  for (unsigned i = 0; i < step.type.bits; ++i) {
    const auto at = step.offset + i;
    const bool bit = (static_cast<std::uint64_t>(value) >> (step.type.bits - 1 - i) & 1U) != 0;
    auto& byte = bytes[at / 8];
    const unsigned mask = 0x80U >> at % 8;
    byte = static_cast<char>(bit ? static_cast<unsigned char>(byte) | mask
                                 : static_cast<unsigned char>(byte) & ~mask);
  }
}

// Converts a value to the field's width. Returns nullopt if it does not fit and must.
__extension__ using wide = __int128;
std::optional<std::int64_t> fit_within(const step& step, wide sum) {
  const auto type = step.type;
  const auto how = step.how;
  const wide low = type.is_signed ? -(static_cast<wide>(1) << (type.bits - 1)) : 0;
  const wide high = (static_cast<wide>(1) << (type.is_signed ? type.bits - 1 : type.bits)) - 1;
  if (sum >= low && sum <= high) return static_cast<std::int64_t>(sum);
  if (how == overflow::fail) return {};
  if (how == overflow::saturate) {
    // Like Redis, treats a value to set as too large also if it is lower than Redis's own
    // arithmetic can represent.
    const bool looks_large = step.what == action::set && type.bits != 64 && high - sum > INT64_MAX;
    return static_cast<std::int64_t>(sum > high || looks_large ? high : low);
  }
  const auto bits = static_cast<std::uint64_t>(sum);
  const unsigned unused = 64 - type.bits;
  return type.is_signed ? static_cast<std::int64_t>(bits << unused) >> unused
                        : static_cast<std::int64_t>(bits << unused >> unused);
}

// Returns the field's new value, whether or not it fits. An unsigned field takes a value's bits.
wide wanted_value(const step& step, std::int64_t before) {
  if (step.what == action::add) return static_cast<wide>(before) + step.value;
  return step.type.is_signed ? static_cast<wide>(step.value)
                             : static_cast<std::uint64_t>(step.value);
}

void write_steps(call& c, const std::vector<step>& steps, entry* entry, std::size_t needed) {
  const bool grows = entry == nullptr || string_view_of(*entry).view().size() < needed;
  char* const bytes = widen(c, entry, needed);
  std::uint64_t changes = 0;
  for (const auto& each : steps) {
    const auto before = read_field(entry->text(), each);
    if (each.what == action::get) {
      c.reply.integer(before);
      continue;
    }
    const bool adds = each.what == action::add;
    const auto after = fit_within(each, wanted_value(each, before));
    if (!after) {
      c.reply.null();
      continue;
    }
    write_field(bytes, each, *after);
    c.reply.integer(adds ? *after : before);
    changes += grows || *after != before ? 1 : 0;
  }
  // A string that grew has changed, even if each value overflows and none is set: Redis does not
  // propagate this, so its followers and its log lack the key.
  if (grows || changes != 0) {
    c.changed(c[1], event_string, "setbit", std::max<std::uint64_t>(changes, 1));
  }
}

void run_steps(call& c, bool may_write) {
  const auto steps = read_steps(c);
  if (!steps) return;
  std::size_t needed = 0;
  bool writes = false;
  for (const auto& each : *steps) {
    if (each.what == action::get) continue;
    writes = true;
    needed = std::max<std::size_t>(needed, (each.offset + each.type.bits - 1) / 8 + 1);
  }
  if (writes && !may_write) {
    c.fail("ERR BITFIELD_RO only supports the GET subcommand");
    return;
  }
  const auto found = c.open_string(writes ? c.find(1) : c.read(1));
  if (!found) return;
  c.reply.array(steps->size());
  if (writes) {
    write_steps(c, *steps, *found, needed);
    return;
  }
  std::optional<string_view_of> held;
  if (*found != nullptr) held.emplace(**found);
  for (const auto& each : *steps) {
    c.reply.integer(read_field(held ? held->view() : std::string_view(), each));
  }
}

void bitfield(call& c) { run_steps(c, true); }
void bitfield_ro(call& c) { run_steps(c, false); }

// clang-format off
const command_row bitfield_rows[] = {
    {"bitfield", -2, "write denyoom", {1, 1, 1},
     "RW access update variable_flags 1 0 1", "bitmap", "3.2.0",
     "reads, sets and increments integers of any width in a string", bitfield},
    {"bitfield_ro", -2, "readonly fast", {1, 1, 1},
     "RO access 1 0 1", "bitmap", "6.0.0",
     "reads integers of any width in a string", bitfield_ro},
};
// clang-format on

}  // namespace

command_group bitfield_commands() { return {"bitmap", bitfield_rows}; }

}  // namespace strata::runtime::cache
