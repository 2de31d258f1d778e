// Commands on one set.
#include "runtime/cache/commands/collections.hpp"
#include "runtime/cache/commands/commands.hpp"
#include "runtime/cache/values/set_value.hpp"

namespace strata::runtime::cache {

namespace {

void sadd(call& c) {
  set_value* const set = c.make_as<set_value>(1);
  if (set == nullptr) return;
  const auto most = c.home().settings().set_max_integers;
  std::uint64_t added = 0;
  for (const auto& each : c.words.subspan(2)) added += set->insert(each, most) ? 1 : 0;
  if (added != 0) c.changed(c[1], event_set, "sadd", added);
  c.reply.integer(static_cast<std::int64_t>(added));
}

void srem(call& c) { erase_members<set_value>(c, event_set, "srem"); }
void scard(call& c) { reply_size<set_value>(c); }

void sismember(call& c) {
  if (const auto found = c.read_as<set_value>(1)) {
    c.reply.integer(*found != nullptr && (*found)->contains(c[2]) ? 1 : 0);
  }
}

void smismember(call& c) {
  const auto found = c.read_as<set_value>(1);
  if (!found) return;
  c.reply.array(c.size() - 2);
  for (const auto& each : c.words.subspan(2)) {
    c.reply.integer(*found != nullptr && (*found)->contains(each) ? 1 : 0);
  }
}

void smembers(call& c) {
  const auto found = c.read_as<set_value>(1);
  if (!found) return;
  c.reply.set(*found == nullptr ? 0 : (*found)->size());
  if (*found != nullptr) {
    (*found)->for_each([&](std::string_view each) { c.reply.bulk(each); });
  }
}

void smove(call& c) {
  const auto from = c.find_as<set_value>(1);
  if (!from) return;
  if (*from == nullptr) {
    c.reply.integer(0);
    return;
  }
  const auto target = c.find_as<set_value>(2);
  if (!target) return;
  if (*from == *target) {
    c.reply.integer((*from)->contains(c[3]) ? 1 : 0);
    return;
  }
  if (!(*from)->erase(c[3])) {
    c.reply.integer(0);
    return;
  }
  c.changed(c[1], event_set, "srem");
  c.drop_if_empty(1, **from);
  set_value* const to = c.make_as<set_value>(2);
  if (to->insert(c[3], c.home().settings().set_max_integers)) c.changed(c[2], event_set, "sadd");
  c.reply.integer(1);
}

// Reads the count of SPOP; replies with an error and returns nullopt if it is invalid.
std::optional<std::uint64_t> read_count(call& c) {
  const auto count = text::parse_integer(c[2]);
  if (!count || *count < 0) {
    c.fail("ERR value is out of range, must be positive");
    return {};
  }
  return static_cast<std::uint64_t>(*count);
}

std::string pop_any(call& c, set_value& value) {
  std::string member;
  value.with_random(c.keys().random(), [&](std::string_view each) { member = each; });
  value.erase(member);
  return member;
}

void pop_many(call& c, std::uint64_t count) {
  const auto found = c.find_as<set_value>(1);
  if (!found) return;
  if (*found == nullptr || count == 0) {
    c.reply.set(0);
    return;
  }
  set_value& set = **found;
  count = std::min<std::uint64_t>(count, set.size());
  c.reply.set(count);
  std::vector<std::string> gone;
  gone.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    c.reply.bulk(gone.emplace_back(pop_any(c, set)));
  }
  c.changed(c[1], event_set, "spop", count);
  if (c.keys().changes().has_listeners()) {
    std::vector<std::string_view> words = {"SREM", c[1]};
    words.insert(words.end(), gone.begin(), gone.end());
    c.propagate_list(words);
  }
  c.drop_if_empty(1, set);
}

void spop(call& c) {
  if (c.size() > 3) {
    c.fail_syntax();
    return;
  }
  if (c.size() == 3) {
    if (const auto count = read_count(c)) pop_many(c, *count);
    return;
  }
  const auto found = c.find_as<set_value>(1);
  if (!found) return;
  if (*found == nullptr) {
    c.reply.null();
    return;
  }
  const auto member = pop_any(c, **found);
  c.reply.bulk(member);
  c.changed(c[1], event_set, "spop");
  c.propagate_as("SREM", c[1], std::string_view(member));
  c.drop_if_empty(1, **found);
}

// Replies with `count` different members, unordered.
void reply_different(call& c, const set_value& set, std::uint64_t count) {
  if (count >= set.size()) {
    c.reply.array(set.size());
    set.for_each([&](std::string_view each) { c.reply.bulk(each); });
    return;
  }
  // Selects from all members in one pass (Knuth's selection sampling).
  c.reply.array(count);
  auto left = static_cast<std::uint64_t>(set.size());
  set.for_each([&](std::string_view each) {
    if (count != 0 && c.keys().random()() % left < count) {
      c.reply.bulk(each);
      --count;
    }
    --left;
  });
}

void srandmember(call& c) {
  if (c.size() > 3) {
    c.fail_syntax();
    return;
  }
  if (c.size() == 2) {
    const auto found = c.read_as<set_value>(1);
    if (!found) return;
    if (*found == nullptr) {
      c.reply.null();
    } else {
      (*found)->with_random(c.keys().random(), [&](std::string_view each) { c.reply.bulk(each); });
    }
    return;
  }
  const auto count = c.integer(2);
  if (!count) return;
  if (*count < -INT64_MAX / 2 || *count > INT64_MAX / 2) {
    c.fail("ERR value is out of range");
    return;
  }
  const auto found = c.read_as<set_value>(1);
  if (!found) return;
  if (*found == nullptr || *count == 0) {
    c.reply.array(0);
  } else if (*count > 0) {
    reply_different(c, **found, static_cast<std::uint64_t>(*count));
  } else {
    c.reply.array(static_cast<std::uint64_t>(-*count));
    for (auto i = *count; i != 0; ++i) {
      (*found)->with_random(c.keys().random(), [&](std::string_view each) { c.reply.bulk(each); });
    }
  }
}

void sscan(call& c) {
  scan_members<set_value>(c, [](const set_value&) { return std::string(); });
}

// clang-format off
const command_row set_rows[] = {
    {"sadd", -3, "write denyoom fast", {1, 1, 1},
     "RW insert 1 0 1", "set", "1.0.0",
     "adds members to a set", sadd},
    {"scard", 2, "readonly fast", {1, 1, 1},
     "RO 1 0 1", "set", "1.0.0",
     "returns the number of members of a set", scard},
    {"sismember", 3, "readonly fast", {1, 1, 1},
     "RO 1 0 1", "set", "1.0.0",
     "checks whether a value is a member of a set", sismember},
    {"smembers", 2, "readonly", {1, 1, 1},
     "RO access 1 0 1", "set", "1.0.0",
     "returns all members of a set", smembers},
    {"smismember", -3, "readonly fast", {1, 1, 1},
     "RO access 1 0 1", "set", "6.2.0",
     "checks whether each of several values is a member of a set", smismember},
    {"smove", 4, "write fast", {1, 2, 1},
     "RW access delete 1 0 1; RW insert 2 0 1", "set", "1.0.0",
     "moves a member to another set", smove},
    {"spop", -2, "write fast", {1, 1, 1},
     "RW access delete 1 0 1", "set", "1.0.0",
     "removes and returns random members of a set", spop},
    {"srandmember", -2, "readonly", {1, 1, 1},
     "RO access 1 0 1", "set", "1.0.0",
     "returns random members of a set without removing them", srandmember},
    {"srem", -3, "write fast", {1, 1, 1},
     "RW delete 1 0 1", "set", "1.0.0",
     "removes members from a set", srem},
    {"sscan", -3, "readonly", {1, 1, 1},
     "RO access 1 0 1", "set", "2.8.0",
     "iterates over the members of a set", sscan},
};
// clang-format on

}  // namespace

command_group set_commands() { return {"set", set_rows}; }

}  // namespace strata::runtime::cache
