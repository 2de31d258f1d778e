// Commands on the expiry times of keys.
#include <array>

#include "runtime/cache/commands/commands.hpp"
#include "runtime/cache/commands/expiry_words.hpp"
#include "runtime/cache/engine/call.hpp"
#include "text/word.hpp"

namespace strata::runtime::cache {

namespace {

std::string invalid_expiry(const call& c) {
  return "ERR invalid expire time in '" + c.what.full_name() + "' command";
}

// Converts a time to milliseconds since 1970, from seconds and from relative times. Returns nullopt
// on overflow.
std::optional<std::int64_t> to_absolute_ms(const call& c, std::int64_t value, expiry_word unit) {
  std::int64_t at_ms = value;
  if (!unit.is_ms && __builtin_mul_overflow(value, 1000, &at_ms)) return {};
  if (!unit.is_absolute && __builtin_add_overflow(at_ms, c.now_ms(), &at_ms)) return {};
  return at_ms;
}

struct expire_options {
  bool if_none = false;
  bool if_some = false;
  bool if_later = false;
  bool if_sooner = false;
};

std::optional<expire_options> read_expire_options(call& c) {
  expire_options read;
  for (std::size_t i = 3; i < c.size(); ++i) {
    if (c.is(i, "NX")) {
      read.if_none = true;
    } else if (c.is(i, "XX")) {
      read.if_some = true;
    } else if (c.is(i, "GT")) {
      read.if_later = true;
    } else if (c.is(i, "LT")) {
      read.if_sooner = true;
    } else {
      c.fail("ERR Unsupported option " + std::string(c[i]));
      return {};
    }
  }
  if (read.if_none && (read.if_some || read.if_later || read.if_sooner)) {
    c.fail("ERR NX and XX, GT or LT options at the same time are not compatible");
    return {};
  }
  if (read.if_later && read.if_sooner) {
    c.fail("ERR GT and LT options at the same time are not compatible");
    return {};
  }
  return read;
}

// A key without an expiry lives forever, which is later than any time.
bool is_wanted(const expire_options& options, const entry& entry, std::int64_t at_ms) {
  const bool has = entry.has_expiry();
  if (options.if_none && has) return false;
  if (options.if_some && !has) return false;
  if (options.if_later && (!has || at_ms <= entry.expires_at_ms())) return false;
  return !(options.if_sooner && has && at_ms >= entry.expires_at_ms());
}

void expire_in(call& c, expiry_word unit) {
  const auto options = read_expire_options(c);
  if (!options) return;
  const auto value = c.integer(2);
  if (!value) return;
  const auto at_ms = to_absolute_ms(c, *value, unit);
  if (!at_ms) {
    c.fail(invalid_expiry(c));
    return;
  }
  entry* const found = c.find(1);
  if (found == nullptr || !is_wanted(*options, *found, *at_ms)) {
    c.reply.integer(0);
    return;
  }
  expire_at(c, 1, found, *at_ms);
  c.reply.integer(1);
}

void expire(call& c) { expire_in(c, {.is_ms = false, .is_absolute = false}); }
void pexpire(call& c) { expire_in(c, {.is_ms = true, .is_absolute = false}); }
void expireat(call& c) { expire_in(c, {.is_ms = false, .is_absolute = true}); }
void pexpireat(call& c) { expire_in(c, {.is_ms = true, .is_absolute = true}); }

// Replies -2 if there is no key, -1 if it does not expire. Does not count as an access.
void reply_time(call& c, expiry_word unit) {
  const entry* const found = c.look(1);
  if (found == nullptr || !found->has_expiry()) {
    c.reply.integer(found == nullptr ? -2 : -1);
    return;
  }
  auto time = found->expires_at_ms();
  if (!unit.is_absolute) time = std::max<std::int64_t>(time - c.now_ms(), 0);
  c.reply.integer(unit.is_ms ? time : (time + (unit.is_absolute ? 0 : 500)) / 1000);
}

void ttl(call& c) { reply_time(c, {.is_ms = false, .is_absolute = false}); }
void pttl(call& c) { reply_time(c, {.is_ms = true, .is_absolute = false}); }
void expiretime(call& c) { reply_time(c, {.is_ms = false, .is_absolute = true}); }
void pexpiretime(call& c) { reply_time(c, {.is_ms = true, .is_absolute = true}); }

void persist(call& c) {
  entry* const found = c.find(1);
  if (found == nullptr || !found->has_expiry()) {
    c.reply.integer(0);
    return;
  }
  c.data().set_expiry(found, entry::never, c.hash(1));
  c.changed(c[1], event_generic, "persist");
  c.reply.integer(1);
}

// clang-format off
const command_row expiry_rows[] = {
    {"expire", -3, "write fast", {1, 1, 1},
     "RW update 1 0 1", "keyspace", "1.0.0",
     "sets the time to live of a key in seconds", expire},
    {"pexpire", -3, "write fast", {1, 1, 1},
     "RW update 1 0 1", "keyspace", "2.6.0",
     "sets the time to live of a key in milliseconds", pexpire},
    {"expireat", -3, "write fast", {1, 1, 1},
     "RW update 1 0 1", "keyspace", "1.2.0",
     "sets the expiry of a key to a Unix time in seconds", expireat},
    {"pexpireat", -3, "write fast", {1, 1, 1},
     "RW update 1 0 1", "keyspace", "2.6.0",
     "sets the expiry of a key to a Unix time in milliseconds", pexpireat},
    {"ttl", 2, "readonly fast", {1, 1, 1},
     "RO access 1 0 1", "keyspace", "1.0.0",
     "returns the remaining time to live of a key in seconds", ttl},
    {"pttl", 2, "readonly fast", {1, 1, 1},
     "RO access 1 0 1", "keyspace", "2.6.0",
     "returns the remaining time to live of a key in milliseconds", pttl},
    {"expiretime", 2, "readonly fast", {1, 1, 1},
     "RO access 1 0 1", "keyspace", "7.0.0",
     "returns the expiry of a key as a Unix time in seconds", expiretime},
    {"pexpiretime", 2, "readonly fast", {1, 1, 1},
     "RO access 1 0 1", "keyspace", "7.0.0",
     "returns the expiry of a key as a Unix time in milliseconds", pexpiretime},
    {"persist", 2, "write fast", {1, 1, 1},
     "RW update 1 0 1", "keyspace", "2.2.0",
     "removes the expiry of a key", persist},
};
// clang-format on

}  // namespace

const expiry_word* find_expiry_word(std::string_view word) {
  struct row {
    std::string_view name;
    expiry_word unit;
  };
  static constexpr std::array<row, 4> table = {{{"EX", {false, false}},
                                                {"PX", {true, false}},
                                                {"EXAT", {false, true}},
                                                {"PXAT", {true, true}}}};
  for (const auto& each : table) {
    if (text::same_text(each.name, word)) return &each.unit;
  }
  return nullptr;
}

std::optional<std::int64_t> parse_expiry(call& c, std::size_t index, expiry_word unit) {
  const auto value = c.integer(index);
  if (!value) return {};
  const auto at_ms = *value > 0 ? to_absolute_ms(c, *value, unit) : std::nullopt;
  if (!at_ms) c.fail(invalid_expiry(c));
  return at_ms;
}

void expire_at(call& c, std::size_t index, entry* entry, std::int64_t at_ms) {
  const auto hash = c.hash(index);
  if (at_ms <= c.now_ms() && !c.keys().expires_by_leader()) {
    c.propagate_as("DEL", c[index]);
    c.keys().changes().record();
    c.remove(entry, hash);
    return;
  }
  c.data().set_expiry(entry, at_ms, hash);
  c.changed(c[index], event_generic, "expire");
  c.propagate_as("PEXPIREAT", c[index], text::integer_text(at_ms).view());
}

command_group expiry_commands() { return {"generic", expiry_rows}; }

}  // namespace strata::runtime::cache
