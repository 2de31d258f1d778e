// Commands on the expiry times of hash fields: HEXPIRE and its relatives, of Redis 7.4.
#include "runtime/cache/commands/commands.hpp"
#include "runtime/cache/commands/expiry_words.hpp"
#include "runtime/cache/commands/hashes/hash_fields.hpp"

namespace strata::runtime::cache {

namespace {

enum class field_condition : std::uint8_t { none, if_none, if_some, if_later, if_sooner };

// Reads NX, XX, GT or LT at word `index`, and moves behind it.
field_condition read_field_condition(const call& c, std::size_t& index) {
  struct row {
    std::string_view name;
    field_condition condition;
  };
  static constexpr std::array<row, 4> table = {{{"NX", field_condition::if_none},
                                                {"XX", field_condition::if_some},
                                                {"GT", field_condition::if_later},
                                                {"LT", field_condition::if_sooner}}};
  for (const auto& each : table) {
    if (!c.is(index, each.name)) continue;
    ++index;
    return each.condition;
  }
  return field_condition::none;
}

// A field without a time lives forever, which is later than any time.
bool is_met(field_condition condition, std::optional<std::int64_t> before, std::int64_t at_ms) {
  switch (condition) {
    case field_condition::if_none: return !before.has_value();
    case field_condition::if_some: return before.has_value();
    case field_condition::if_later: return before.value_or(INT64_MAX) < at_ms;
    case field_condition::if_sooner: return before.value_or(INT64_MAX) > at_ms;
    default: return true;
  }
}

// Replies with the same number for each field.
void reply_for_all(call& c, std::size_t count, std::int64_t number) {
  c.reply.array(count);
  for (std::size_t i = 0; i < count; ++i) c.reply.integer(number);
}

void expire_fields(call& c, const expiry_word& unit) {
  const auto at_ms = read_field_time(c, 2, unit);
  if (!at_ms) return;
  std::size_t index = 3;
  const auto condition = read_field_condition(c, index);
  const auto names = read_field_words(c, index, no_positive_number_error);
  if (!names) return;
  entry* const found = c.find(1);
  const auto hash = c.open<hash_value>(found);
  if (!hash) return;
  if (*hash == nullptr) {
    reply_for_all(c, names->size(), -2);
    return;
  }
  field_time_changes changes(c, *found);
  c.reply.array(names->size());
  for (const auto& each : *names) {
    if (!(*hash)->contains(each)) {
      c.reply.integer(-2);
    } else if (!is_met(condition, (*hash)->expiry_of(each), *at_ms)) {
      c.reply.integer(0);
    } else {
      c.reply.integer(changes.set(each, *at_ms) ? 1 : 2);
    }
  }
  changes.finish();
}

void hexpire(call& c) { expire_fields(c, {.is_ms = false, .is_absolute = false}); }
void hpexpire(call& c) { expire_fields(c, {.is_ms = true, .is_absolute = false}); }
void hexpireat(call& c) { expire_fields(c, {.is_ms = false, .is_absolute = true}); }
void hpexpireat(call& c) { expire_fields(c, {.is_ms = true, .is_absolute = true}); }

// Replies for each field: -2 if it does not exist, -1 if it does not expire.
void reply_field_times(call& c, const expiry_word& unit) {
  const auto found = c.read_as<hash_value>(1);
  if (!found) return;
  const auto names = read_field_words(c, 2);
  if (!names) return;
  const live_fields fields(*found, c.now_ms());
  c.reply.array(names->size());
  for (const auto& each : *names) {
    const auto expires = fields.contains(each) ? (*found)->expiry_of(each) : std::nullopt;
    if (!expires) {
      c.reply.integer(fields.contains(each) ? -1 : -2);
      continue;
    }
    const auto time = unit.is_absolute ? *expires : *expires - c.now_ms();
    c.reply.integer(unit.is_ms ? time : (time + 999) / 1000);
  }
}

void httl(call& c) { reply_field_times(c, {.is_ms = false, .is_absolute = false}); }
void hpttl(call& c) { reply_field_times(c, {.is_ms = true, .is_absolute = false}); }
void hexpiretime(call& c) { reply_field_times(c, {.is_ms = false, .is_absolute = true}); }
void hpexpiretime(call& c) { reply_field_times(c, {.is_ms = true, .is_absolute = true}); }

void hpersist(call& c) {
  entry* const found = c.find(1);
  const auto hash = c.open<hash_value>(found);
  if (!hash) return;
  const auto names = read_field_words(c, 2);
  if (!names) return;
  if (*hash == nullptr) {
    reply_for_all(c, names->size(), -2);
    return;
  }
  field_time_changes changes(c, *found);
  c.reply.array(names->size());
  for (const auto& each : *names) {
    if (!(*hash)->contains(each)) {
      c.reply.integer(-2);
    } else if (!(*hash)->expiry_of(each)) {
      c.reply.integer(-1);
    } else {
      changes.persist(each);
      c.reply.integer(1);
    }
  }
  changes.finish();
}

// clang-format off
const command_row hash_expiry_rows[] = {
    {"hexpire", -6, "write denyoom fast", {1, 1, 1},
     "RW update 1 0 1", "hash", "7.4.0",
     "sets the time to live of hash fields in seconds", hexpire},
    {"hexpireat", -6, "write denyoom fast", {1, 1, 1},
     "RW update 1 0 1", "hash", "7.4.0",
     "sets the expiry of hash fields to a Unix time in seconds", hexpireat},
    {"hexpiretime", -5, "readonly fast", {1, 1, 1},
     "RO access 1 0 1", "hash", "7.4.0",
     "returns the expiry of hash fields as Unix times in seconds", hexpiretime},
    {"hpersist", -5, "write fast", {1, 1, 1},
     "RW update 1 0 1", "hash", "7.4.0",
     "removes the expiry of hash fields", hpersist},
    {"hpexpire", -6, "write denyoom fast", {1, 1, 1},
     "RW update 1 0 1", "hash", "7.4.0",
     "sets the time to live of hash fields in milliseconds", hpexpire},
    {"hpexpireat", -6, "write denyoom fast", {1, 1, 1},
     "RW update 1 0 1", "hash", "7.4.0",
     "sets the expiry of hash fields to a Unix time in milliseconds", hpexpireat},
    {"hpexpiretime", -5, "readonly fast", {1, 1, 1},
     "RO access 1 0 1", "hash", "7.4.0",
     "returns the expiry of hash fields as Unix times in milliseconds", hpexpiretime},
    {"hpttl", -5, "readonly fast", {1, 1, 1},
     "RO access 1 0 1", "hash", "7.4.0",
     "returns the remaining time to live of hash fields in milliseconds", hpttl},
    {"httl", -5, "readonly fast", {1, 1, 1},
     "RO access 1 0 1", "hash", "7.4.0",
     "returns the remaining time to live of hash fields in seconds", httl},
};
// clang-format on

}  // namespace

command_group hash_expiry_commands() { return {"hash", hash_expiry_rows}; }

}  // namespace strata::runtime::cache
