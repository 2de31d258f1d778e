// Commands on hashes.
#include <cmath>

#include "runtime/cache/commands/collections.hpp"
#include "runtime/cache/commands/commands.hpp"
#include "runtime/cache/values/hash_value.hpp"

namespace strata::runtime::cache {

namespace {

hash_limits limits_of(const call& c) {
  const auto& settings = c.home().settings();
  return {settings.hash_max_pack_entries, settings.hash_max_pack_value};
}

// Sets the pairs of words from 2 on; returns how many fields are new. Returns nullopt after an
// error.
std::optional<std::int64_t> set_pairs(call& c) {
  if (c.size() % 2 == 1) {
    c.fail_arity();
    return {};
  }
  hash_value* const hash = c.make_as<hash_value>(1);
  if (hash == nullptr) return {};
  const auto limits = limits_of(c);
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
  const auto limits = limits_of(c);
  hash->fit(c.words.subspan(2), limits);
  hash->set(c[2], c[3], limits);
  c.reply.integer(1);
  c.changed(c[1], event_hash, "hset");
}

void reply_value(call& c, const hash_value* hash, std::string_view name) {
  const bool found =
      hash != nullptr && hash->with_value(name, [&](std::string_view each) { c.reply.bulk(each); });
  if (!found) c.reply.null();
}

void hget(call& c) {
  if (const auto found = c.read_as<hash_value>(1)) reply_value(c, *found, c[2]);
}

void hmget(call& c) {
  const auto found = c.read_as<hash_value>(1);
  if (!found) return;
  c.reply.array(c.size() - 2);
  for (const auto& each : c.words.subspan(2)) reply_value(c, *found, each);
}

void hdel(call& c) { erase_members<hash_value>(c, event_hash, "hdel"); }
void hlen(call& c) { reply_size<hash_value>(c); }

void hexists(call& c) {
  if (const auto found = c.read_as<hash_value>(1)) {
    c.reply.integer(*found != nullptr && (*found)->contains(c[2]) ? 1 : 0);
  }
}

void hstrlen(call& c) {
  const auto found = c.read_as<hash_value>(1);
  if (!found) return;
  std::size_t size = 0;
  if (*found != nullptr) {
    (*found)->with_value(c[2], [&](std::string_view each) { size = each.size(); });
  }
  c.reply.integer(static_cast<std::int64_t>(size));
}

void hgetall(call& c) {
  const auto found = c.read_as<hash_value>(1);
  if (!found) return;
  c.reply.map(*found == nullptr ? 0 : (*found)->size());
  if (*found == nullptr) return;
  (*found)->for_each([&](std::string_view name, std::string_view value) {
    c.reply.bulk(name);
    c.reply.bulk(value);
  });
}

void hkeys(call& c) {
  const auto found = c.read_as<hash_value>(1);
  if (!found) return;
  c.reply.array(*found == nullptr ? 0 : (*found)->size());
  if (*found == nullptr) return;
  (*found)->for_each([&](std::string_view name, std::string_view) { c.reply.bulk(name); });
}

void hvals(call& c) {
  const auto found = c.read_as<hash_value>(1);
  if (!found) return;
  c.reply.array(*found == nullptr ? 0 : (*found)->size());
  if (*found == nullptr) return;
  (*found)->for_each([&](std::string_view, std::string_view value) { c.reply.bulk(value); });
}

// Replaces a field's value by the result of `next`, which returns nullopt after an error.
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
  const auto limits = limits_of(c);
  const std::array<std::string_view, 2> texts = {c[2], *after};
  hash->fit(texts, limits);
  hash->set(c[2], *after, limits);
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
}

void reply_field(call& c, bool with_values, std::string_view name, std::string_view value) {
  // In RESP3, each is a pair.
  if (with_values && c.reply.is_resp3()) c.reply.array(2);
  c.reply.bulk(name);
  if (with_values) c.reply.bulk(value);
}

void reply_fields(call& c, const hash_value& hash, std::int64_t count, bool with_values) {
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
    const auto found = c.read_as<hash_value>(1);
    if (!found) return;
    if (*found == nullptr) {
      c.reply.null();
    } else {
      (*found)->with_random(c.keys().random(),
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
  const auto found = c.read_as<hash_value>(1);
  if (!found) return;
  if (*found == nullptr || *count == 0) {
    c.reply.array(0);
    return;
  }
  reply_fields(c, **found, *count, with_values);
}

void hscan(call& c) {
  scan_members<hash_value>(c, [](const hash_value&, std::string_view value) { return value; });
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
