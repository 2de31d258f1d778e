// Commands on hashes.
#include <cmath>

#include "runtime/cache/commands/collections.hpp"
#include "runtime/cache/commands/commands.hpp"
#include "runtime/cache/commands/hashes/hash_fields.hpp"
#include "text/word.hpp"

namespace strata::runtime::cache {

namespace {

// Sets the pairs of words from 2 on; returns how many fields are new. Returns nullopt after an
// error.
std::optional<std::int64_t> set_pairs(call& c) {
  if (c.size() % 2 == 1) {
    c.fail_arity();
    return {};
  }
  hash_value* const hash = c.make_as<hash_value>(1);
  if (hash == nullptr) return {};
  const auto limits = limits_of_hashes(c);
  hash->fit(c.words.subspan(2), limits);
  std::int64_t added = 0;
  for (std::size_t i = 2; i < c.size(); i += 2) {
    added += hash->set(c[i], c[i + 1], limits) ? 1 : 0;
  }
  return added;
}

void hset(call& c) {
  const auto added = set_pairs(c);
  if (!added) return;
  c.reply.integer(*added);
  c.changed(c[1], event_hash, "hset", (c.size() - 2) / 2);
}

void hmset(call& c) {
  if (!set_pairs(c)) return;
  c.reply.ok();
  c.changed(c[1], event_hash, "hset", (c.size() - 2) / 2);
}

void hsetnx(call& c) {
  const auto found = c.find_as<hash_value>(1);
  if (!found) return;
  if (*found != nullptr && (*found)->contains(c[2])) {
    c.reply.integer(0);
    return;
  }
  hash_value* const hash = c.make_as<hash_value>(1);
  const auto limits = limits_of_hashes(c);
  hash->fit(c.words.subspan(2), limits);
  hash->set(c[2], c[3], limits);
  c.reply.integer(1);
  c.changed(c[1], event_hash, "hset");
}

void reply_value(call& c, const live_fields& fields, std::string_view name) {
  if (!fields.with_value(name, [&](std::string_view each) { c.reply.bulk(each); })) {
    c.reply.null();
  }
}

void hget(call& c) {
  if (const auto fields = read_live_fields(c)) reply_value(c, *fields, c[2]);
}

void hmget(call& c) {
  const auto fields = read_live_fields(c);
  if (!fields) return;
  c.reply.array(c.size() - 2);
  for (const auto& each : c.words.subspan(2)) reply_value(c, *fields, each);
}

void hdel(call& c) { erase_members<hash_value>(c, event_hash, "hdel"); }

void hlen(call& c) {
  if (const auto fields = read_live_fields(c)) {
    c.reply.integer(static_cast<std::int64_t>(fields->size()));
  }
}

void hexists(call& c) {
  if (const auto fields = read_live_fields(c)) c.reply.integer(fields->contains(c[2]) ? 1 : 0);
}

void hstrlen(call& c) {
  const auto fields = read_live_fields(c);
  if (!fields) return;
  std::size_t size = 0;
  (void)fields->with_value(c[2], [&](std::string_view each) { size = each.size(); });
  c.reply.integer(static_cast<std::int64_t>(size));
}

void hgetall(call& c) {
  const auto fields = read_live_fields(c);
  if (!fields) return;
  c.reply.map(fields->size());
  fields->for_each([&](std::string_view name, std::string_view value) {
    c.reply.bulk(name);
    c.reply.bulk(value);
  });
}

void hkeys(call& c) {
  const auto fields = read_live_fields(c);
  if (!fields) return;
  c.reply.array(fields->size());
  fields->for_each([&](std::string_view name, std::string_view) { c.reply.bulk(name); });
}

void hvals(call& c) {
  const auto fields = read_live_fields(c);
  if (!fields) return;
  c.reply.array(fields->size());
  fields->for_each([&](std::string_view, std::string_view value) { c.reply.bulk(value); });
}

// Replaces a field's value by the result of `next`, which returns nullopt after an error. The field
// keeps its expiry.
template <class Next>
void replace_value(call& c, Next&& next) {
  const auto found = c.find_as<hash_value>(1);
  if (!found) return;
  std::optional<std::string> before;
  if (*found != nullptr) {
    (*found)->with_value(c[2], [&](std::string_view each) { before = each; });
  }
  const std::optional<std::string> after = next(before);
  if (!after) return;
  hash_value* const hash = c.make_as<hash_value>(1);
  const auto limits = limits_of_hashes(c);
  const std::array<std::string_view, 2> texts = {c[2], *after};
  hash->fit(texts, limits);
  const auto expires = hash->expiry_of(c[2]);
  hash->set(c[2], *after, limits);
  if (expires) hash->set_expiry(c[2], *expires);
}

void hincrby(call& c) {
  const auto delta = c.integer(3);
  if (!delta) return;
  std::int64_t value = 0;
  replace_value(c, [&](const std::optional<std::string>& before) -> std::optional<std::string> {
    const auto number = before ? text::parse_integer(*before) : std::optional<std::int64_t>(0);
    if (!number) {
      c.fail("ERR hash value is not an integer");
      return {};
    }
    if (__builtin_add_overflow(*number, *delta, &value)) {
      c.fail(overflow_error);
      return {};
    }
    return std::to_string(value);
  });
  if (c.has_failed()) return;
  c.reply.integer(value);
  c.changed(c[1], event_hash, "hincrby");
}

void hincrbyfloat(call& c) {
  const auto delta = text::parse_long_real(c[3]);
  if (!delta) {
    c.fail(not_float_error);
    return;
  }
  if (std::isinf(*delta)) {
    c.fail("ERR value is NaN or Infinity");
    return;
  }
  std::string text;
  replace_value(c, [&](const std::optional<std::string>& before) -> std::optional<std::string> {
    const auto number = before ? text::parse_long_real(*before) : std::optional<long double>(0);
    if (!number) {
      c.fail("ERR hash value is not a float");
      return {};
    }
    const long double sum = *number + *delta;
    if (std::isnan(sum) || std::isinf(sum)) {
      c.fail("ERR increment would produce NaN or Infinity");
      return {};
    }
    text = text::format_long_real(sum);
    return text;
  });
  if (c.has_failed()) return;
  c.reply.bulk(text);
  c.changed(c[1], event_hash, "hincrbyfloat");
  c.propagate_as("HSET", c[1], c[2], std::string_view(text));
  const auto expires = c.make_as<hash_value>(1)->expiry_of(c[2]);
  if (!expires) return;
  // HSET has removed the expiry where it is repeated.
  const text::integer_text time(*expires);
  c.propagate_as("HPEXPIREAT", c[1], time.view(), "FIELDS", "1", c[2]);
}

void reply_field(call& c, bool with_values, std::string_view name, std::string_view value) {
  // In RESP3, each is a pair.
  if (with_values && c.reply.is_resp3()) c.reply.array(2);
  c.reply.bulk(name);
  if (with_values) c.reply.bulk(value);
}

void reply_fields(call& c, const live_fields& hash, std::int64_t count, bool with_values) {
  const bool repeats = count < 0;
  auto wanted = static_cast<std::uint64_t>(repeats ? -count : count);
  if (!repeats) wanted = std::min<std::uint64_t>(wanted, hash.size());
  c.reply.array(with_values && !c.reply.is_resp3() ? wanted * 2 : wanted);
  if (repeats) {
    for (std::uint64_t i = 0; i < wanted; ++i) {
      hash.with_random(c.keys().random(), [&](std::string_view name, std::string_view value) {
        reply_field(c, with_values, name, value);
      });
    }
    return;
  }
  // Selects from all fields in one pass (Knuth's selection sampling).
  auto left = static_cast<std::uint64_t>(hash.size());
  hash.for_each([&](std::string_view name, std::string_view value) {
    if (wanted != 0 && c.keys().random()() % left < wanted) {
      reply_field(c, with_values, name, value);
      --wanted;
    }
    --left;
  });
}

void hrandfield(call& c) {
  if (c.size() == 2) {
    const auto fields = read_live_fields(c);
    if (!fields) return;
    if (fields->size() == 0) {
      c.reply.null();
    } else {
      fields->with_random(c.keys().random(),
                          [&](std::string_view name, std::string_view) { c.reply.bulk(name); });
    }
    return;
  }
  const auto count = c.integer(2);
  if (!count) return;
  const bool with_values = c.size() == 4 && c.is(3, "WITHVALUES");
  if (c.size() > 4 || (c.size() == 4 && !with_values)) {
    c.fail_syntax();
    return;
  }
  if (*count < -INT64_MAX / 2 || *count > INT64_MAX / 2) {
    c.fail("ERR value is out of range");
    return;
  }
  const auto fields = read_live_fields(c);
  if (!fields) return;
  if (fields->size() == 0 || *count == 0) {
    c.reply.array(0);
    return;
  }
  reply_fields(c, *fields, *count, with_values);
}

// Removes NOVALUES, of Redis 7.4, from the options of HSCAN; reports whether it was there.
bool take_novalues(const call& c, std::vector<std::string_view>& words) {
  if (!c.knows(version_7_4)) return false;
  for (std::size_t i = 3; i < words.size(); i += 2) {
    if (!text::same_text(words[i], "NOVALUES")) continue;
    words.erase(words.begin() + static_cast<std::ptrdiff_t>(i));
    return true;
  }
  return false;
}

// If the key is missing, Redis does not check the options.
void scan_fields(call& c, bool has_values) {
  if (!read_scan_cursor(c, 2)) return;
  const auto fields = read_live_fields(c);
  if (!fields) return;
  if (fields->size() == 0) {
    reply_scan(c, 0, 0);
    return;
  }
  const auto words = read_scan_words(c, 2);
  if (!words) return;
  std::vector<std::string> texts;
  const auto next = scan_enough(*words, [&](std::uint64_t cursor, std::int64_t& seen) {
    return fields->scan(cursor, [&](std::string_view name, std::string_view value) {
      ++seen;
      if (!words->matches(name)) return;
      texts.emplace_back(name);
      if (has_values) texts.emplace_back(value);
    });
  });
  reply_scan(c, next, texts.size());
  for (const auto& each : texts) c.reply.bulk(each);
}

void hscan(call& c) {
  std::vector<std::string_view> words(c.words.begin(), c.words.end());
  const bool has_values = !take_novalues(c, words);
  const auto whole = std::exchange(c.words, words);
  scan_fields(c, has_values);
  c.words = whole;
}

// clang-format off
const command_row hash_rows[] = {
    {"hdel", -3, "write fast", {1, 1, 1},
     "RW delete 1 0 1", "hash", "2.0.0",
     "removes fields from a hash", hdel},
    {"hexists", 3, "readonly fast", {1, 1, 1},
     "RO 1 0 1", "hash", "2.0.0",
     "checks whether a hash has a field", hexists},
    {"hget", 3, "readonly fast", {1, 1, 1},
     "RO access 1 0 1", "hash", "2.0.0",
     "returns the value of a hash field", hget},
    {"hgetall", 2, "readonly", {1, 1, 1},
     "RO access 1 0 1", "hash", "2.0.0",
     "returns all fields and values of a hash", hgetall},
    {"hincrby", 4, "write denyoom fast", {1, 1, 1},
     "RW access update 1 0 1", "hash", "2.0.0",
     "adds an integer to the number in a hash field", hincrby},
    {"hincrbyfloat", 4, "write denyoom fast", {1, 1, 1},
     "RW access update 1 0 1", "hash", "2.6.0",
     "adds a floating-point number to the number in a hash field", hincrbyfloat},
    {"hkeys", 2, "readonly", {1, 1, 1},
     "RO access 1 0 1", "hash", "2.0.0",
     "returns all fields of a hash", hkeys},
    {"hlen", 2, "readonly fast", {1, 1, 1},
     "RO 1 0 1", "hash", "2.0.0",
     "returns the number of fields of a hash", hlen},
    {"hmget", -3, "readonly fast", {1, 1, 1},
     "RO access 1 0 1", "hash", "2.0.0",
     "returns the values of several hash fields", hmget},
    {"hmset", -4, "write denyoom fast", {1, 1, 1},
     "RW update 1 0 1", "hash", "2.0.0",
     "sets several fields of a hash", hmset},
    {"hrandfield", -2, "readonly", {1, 1, 1},
     "RO access 1 0 1", "hash", "6.2.0",
     "returns random fields of a hash", hrandfield},
    {"hscan", -3, "readonly", {1, 1, 1},
     "RO access 1 0 1", "hash", "2.8.0",
     "iterates over the fields of a hash", hscan},
    {"hset", -4, "write denyoom fast", {1, 1, 1},
     "RW update 1 0 1", "hash", "2.0.0",
     "sets fields of a hash", hset},
    {"hsetnx", 4, "write denyoom fast", {1, 1, 1},
     "RW insert 1 0 1", "hash", "2.0.0",
     "sets a hash field unless it exists", hsetnx},
    {"hstrlen", 3, "readonly fast", {1, 1, 1},
     "RO 1 0 1", "hash", "3.2.0",
     "returns the length of the value of a hash field", hstrlen},
    {"hvals", 2, "readonly", {1, 1, 1},
     "RO access 1 0 1", "hash", "2.0.0",
     "returns all values of a hash", hvals},
};
// clang-format on

}  // namespace

command_group hash_commands() { return {"hash", hash_rows}; }

}  // namespace strata::runtime::cache
