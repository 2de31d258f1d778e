// Commands that read or set hash fields and their expiry at once: HGETDEL, HGETEX and HSETEX, of
// Redis 8.0.
#include "runtime/cache/commands/commands.hpp"
#include "runtime/cache/commands/expiry_words.hpp"
#include "runtime/cache/commands/hashes/hash_fields.hpp"

namespace strata::runtime::cache {

namespace {

void reply_fields_values(call& c, const hash_value* hash, std::span<const std::string_view> names) {
  const live_fields fields(hash, c.now_ms());
  c.reply.array(names.size());
  for (const auto& each : names) {
    if (!fields.with_value(each, [&](std::string_view value) { c.reply.bulk(value); })) {
      c.reply.null();
    }
  }
}

void hgetdel(call& c) {
  entry* const found = c.find(1);
  const auto hash = c.open<hash_value>(found);
  if (!hash) return;
  const auto names = read_field_words(c, 2);
  if (!names) return;
  if (*hash == nullptr) {
    reply_fields_values(c, nullptr, *names);
    return;
  }
  // A field that is named twice has a value only the first time.
  field_time_changes changes(c, *found);
  c.reply.array(names->size());
  for (const auto& each : *names) {
    const bool is_there =
        (*hash)->with_value(each, [&](std::string_view value) { c.reply.bulk(value); });
    if (is_there) {
      changes.erase(each);
    } else {
      c.reply.null();
    }
  }
  changes.finish();
}

// The options of HGETEX and HSETEX: those of one command are errors in the other.
struct field_options {
  const expiry_word* unit = nullptr;
  std::size_t time_index = 0;
  bool keeps_time = false;  // PERSIST or KEEPTTL
  bool if_absent = false;
  bool if_present = false;
  std::size_t fields_index = 0;
};

// Reads the option at word `index`, and moves to its last word. Returns false after an error.
bool read_field_option(call& c, std::size_t& index, std::string_view other_time,
                       field_options& read) {
  const auto* const unit = find_expiry_word(c[index]);
  const bool is_other = c.is(index, other_time);
  if (unit != nullptr || is_other) {
    if (read.unit != nullptr || read.keeps_time) {
      c.fail("ERR Only one of EX, PX, EXAT, PXAT or " + std::string(other_time) +
             " arguments can be specified");
      return false;
    }
    read.keeps_time = is_other;
    read.unit = unit;
    if (is_other) return true;
    read.time_index = ++index;
    if (index < c.size()) return true;
    c.fail("ERR missing expire time");
    return false;
  }
  const bool sets = other_time == "KEEPTTL";
  if (sets && (c.is(index, "FNX") || c.is(index, "FXX"))) {
    if (read.if_absent || read.if_present) {
      c.fail("ERR Only one of FXX or FNX arguments can be specified");
      return false;
    }
    (c.is(index, "FNX") ? read.if_absent : read.if_present) = true;
    return true;
  }
  c.fail("ERR unknown argument: " + std::string(c[index]));
  return false;
}

// Reads the options up to FIELDS. Returns nullopt after an error.
std::optional<field_options> read_field_options(call& c, std::string_view other_time) {
  field_options read;
  for (std::size_t i = 2; i < c.size(); ++i) {
    if (c.is(i, "FIELDS")) {
      read.fields_index = i;
      return read;
    }
    if (!read_field_option(c, i, other_time, read)) return {};
  }
  read.fields_index = c.size();
  return read;
}

// Returns the time that the options name; `entry::never` if they name none. Nullopt after an error.
std::optional<std::int64_t> time_in(call& c, const field_options& options) {
  if (options.unit == nullptr) return entry::never;
  return read_field_time(c, options.time_index, *options.unit);
}

void hgetex(call& c) {
  const auto options = read_field_options(c, "PERSIST");
  if (!options) return;
  const auto names = read_field_words(c, options->fields_index);
  if (!names) return;
  const auto at_ms = time_in(c, *options);
  if (!at_ms) return;
  entry* const found = c.find(1);
  const auto hash = c.open<hash_value>(found);
  if (!hash) return;
  reply_fields_values(c, *hash, *names);
  if (*hash == nullptr || (*at_ms == entry::never && !options->keeps_time)) return;
  field_time_changes changes(c, *found);
  for (const auto& each : *names) {
    if (!(*hash)->contains(each)) continue;
    if (options->keeps_time) {
      changes.persist(each);
    } else {
      (void)changes.set(each, *at_ms);
    }
  }
  changes.finish();
}

bool allows_setting(const hash_value* hash, const field_options& options,
                    std::span<const std::string_view> pairs) {
  if (!options.if_absent && !options.if_present) return true;
  for (std::size_t i = 0; i < pairs.size(); i += 2) {
    const bool exists = hash != nullptr && hash->contains(pairs[i]);
    if (exists == options.if_absent) return false;
  }
  return true;
}

// Propagates the values as HSET, and the times that were kept beside them.
void set_fields(call& c, hash_value& hash, const field_options& options,
                std::span<const std::string_view> pairs) {
  const auto limits = limits_of_hashes(c);
  hash.fit(pairs, limits);
  std::vector<std::string_view> words = {"HSET", c[1]};
  words.insert(words.end(), pairs.begin(), pairs.end());
  c.changed(c[1], event_hash, "hset", pairs.size() / 2);
  c.propagate_list(words);
  for (std::size_t i = 0; i < pairs.size(); i += 2) {
    const auto before = options.keeps_time ? hash.expiry_of(pairs[i]) : std::nullopt;
    hash.set(pairs[i], pairs[i + 1], limits);
    if (!before) continue;
    const auto at_ms = before.value();
    hash.set_expiry(pairs[i], at_ms);
    c.propagate_as("HPEXPIREAT", c[1], text::integer_text(at_ms).view(), "FIELDS", "1", pairs[i]);
  }
}

void hsetex(call& c) {
  const auto options = read_field_options(c, "KEEPTTL");
  if (!options) return;
  const auto pairs = read_field_words(c, options->fields_index, no_positive_fields_error, 2);
  if (!pairs) return;
  const auto at_ms = time_in(c, *options);
  if (!at_ms) return;
  const auto before = c.find_as<hash_value>(1);
  if (!before) return;
  if (!allows_setting(*before, *options, *pairs)) {
    c.reply.integer(0);
    return;
  }
  hash_value* const hash = c.make_as<hash_value>(1);
  set_fields(c, *hash, *options, *pairs);
  if (*at_ms != entry::never) {
    field_time_changes changes(c, *c.find(1));
    for (std::size_t i = 0; i < pairs->size(); i += 2) {
      if (hash->contains((*pairs)[i])) (void)changes.set((*pairs)[i], *at_ms);
    }
    changes.finish();
  }
  c.reply.integer(1);
}

// clang-format off
const command_row hash_combination_rows[] = {
    {"hgetdel", -5, "write fast", {1, 1, 1},
     "RW access delete 1 0 1", "hash", "8.0.0",
     "returns and removes hash fields", hgetdel},
    {"hgetex", -5, "write fast", {1, 1, 1},
     "RW access update 1 0 1", "hash", "8.0.0",
     "returns hash fields, and sets or removes their expiry", hgetex},
    {"hsetex", -6, "write denyoom fast", {1, 1, 1},
     "RW update 1 0 1", "hash", "8.0.0",
     "sets hash fields and their expiry", hsetex},
};
// clang-format on

}  // namespace

command_group hash_combination_commands() { return {"hash", hash_combination_rows}; }

}  // namespace strata::runtime::cache
