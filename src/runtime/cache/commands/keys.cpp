// Commands on keys of any type.
#include <array>

#include "runtime/cache/commands/commands.hpp"
#include "runtime/cache/engine/access.hpp"
#include "runtime/cache/engine/call.hpp"
#include "runtime/cache/engine/key_source.hpp"
#include "text/word.hpp"

namespace strata::runtime::cache {

namespace {

void remove_keys(call& c, bool frees_later) {
  std::size_t removed = 0;
  std::vector<std::string_view> said;  // the command to propagate: with the existing keys only
  if (c.size() > 2) said.push_back(c[0]);
  for (std::size_t i = 1; i < c.size(); ++i) {
    const auto hash = c.hash(i);
    entry* const found = c.keys().find(c.who.database, c[i], hash);
    if (found == nullptr) {
      auto* const source = c.home().source();
      if (source != nullptr) source->note_removed(c.who.database, c[i]);
      continue;
    }
    if (c.size() > 2) said.push_back(c[i]);
    if (frees_later) c.keys().free_later(*found);
    c.remove(found, hash);
    c.keys().changes().record();
    ++removed;
  }
  if (removed != 0 && removed + 1 < c.size()) c.propagate_list(said);
  c.reply.integer(static_cast<std::int64_t>(removed));
}

void del(call& c) { remove_keys(c, c.home().settings().lazy_delete); }
void unlink(call& c) { remove_keys(c, true); }

template <class Look>
void count_present(call& c, Look&& look) {
  std::int64_t present = 0;
  for (std::size_t i = 1; i < c.size(); ++i) present += look(i) != nullptr ? 1 : 0;
  c.reply.integer(present);
}

void exists(call& c) {
  count_present(c, [&](std::size_t index) { return c.look(index); });
}
void touch(call& c) {
  count_present(c, [&](std::size_t index) { return c.read(index); });
}

void type(call& c) {
  const entry* const found = c.look(1);
  c.reply.status(found == nullptr ? "none" : name_of(found->type()));
}

void randomkey(call& c) {
  auto& data = c.data();
  while (data.size() != 0) {
    const entry* const any = data.random(c.keys().random());
    const std::string key(any->key());
    if (const auto* const found = c.keys().find(c.who.database, key, hash_of(key))) {
      c.reply.bulk(found->key());
      return;
    }
  }
  c.reply.null();
}

// Puts the value of `source` under `key`, in any database, replacing an existing value.
void put(call& c, unsigned database, entry& source, std::string_view key) {
  const auto hash = hash_of(key);
  entry* const fresh = entry::move_from(source, key, source.expires_at_ms());
  if (entry* const old = c.keys().find(database, key, hash)) {
    c.keys()[database].replace(old, fresh, hash);
  } else {
    c.keys()[database].add(fresh, hash);
  }
  c.keys().touch(database, key);
  c.keys().notify(event_new, "new", key, database);
}

void rename_to(call& c, bool if_absent) {
  const auto hash = c.hash(1);
  entry* const found = c.find(1);
  if (found == nullptr) {
    c.fail(no_key_error);
    return;
  }
  if (c[1] == c[2]) {
    if (if_absent) {
      c.reply.integer(0);
    } else {
      c.reply.ok();
    }
    return;
  }
  if (if_absent && c.find(2) != nullptr) {
    c.reply.integer(0);
    return;
  }
  entry* const gone = c.data().release(found, hash);
  put(c, c.who.database, *gone, c[2]);
  entry::destroy(gone);
  c.changed(c[1], event_generic, "rename_from");
  c.keys().notify(event_generic, "rename_to", c[2], c.who.database);
  if (if_absent) {
    c.reply.integer(1);
  } else {
    c.reply.ok();
  }
}

void rename(call& c) { rename_to(c, false); }
void renamenx(call& c) { rename_to(c, true); }

std::optional<unsigned> read_database(call& c, std::size_t index, std::string_view error) {
  const auto number = c.integer(index, error);
  if (!number) return {};
  if (*number < 0 || *number >= keyspace::database_count) {
    c.fail("ERR DB index is out of range");
    return {};
  }
  return static_cast<unsigned>(*number);
}

void move(call& c) {
  const auto to = read_database(c, 2, "ERR value is not an integer or out of range");
  if (!to) return;
  if (*to == c.who.database) {
    c.fail("ERR source and destination objects are the same");
    return;
  }
  const auto hash = c.hash(1);
  entry* const found = c.find(1);
  if (found == nullptr || c.keys().find(*to, c[1], hash) != nullptr) {
    c.reply.integer(0);
    return;
  }
  entry* const moved = c.data().release(found, hash);
  c.keys()[*to].add(moved, hash);
  c.keys().notify(event_new, "new", c[1], *to);
  c.changed(c[1], event_generic, "move_from");
  c.keys().touch(*to, c[1]);
  c.keys().notify(event_generic, "move_to", c[1], *to);
  c.reply.integer(1);
}

void copy(call& c) {
  auto to = c.who.database;
  bool replaces = false;
  for (std::size_t i = 3; i < c.size(); ++i) {
    if (c.is(i, "REPLACE")) {
      replaces = true;
    } else if (c.is(i, "DB") && i + 1 < c.size()) {
      const auto read = read_database(c, ++i, not_integer_error);
      if (!read) return;
      to = *read;
    } else {
      c.fail_syntax();
      return;
    }
  }
  if (to == c.who.database && c[1] == c[2]) {
    c.fail("ERR source and destination objects are the same");
    return;
  }
  entry* const found = c.read(1);
  const auto hash = hash_of(c[2]);
  entry* const old = found == nullptr ? nullptr : c.keys().find(to, c[2], hash);
  if (found == nullptr || (old != nullptr && !replaces)) {
    c.reply.integer(0);
    return;
  }
  entry* const fresh = found->is_string()
                           ? entry::move_from(*found, c[2], found->expires_at_ms())
                           : entry::make(c[2], found->object().clone(), found->expires_at_ms());
  if (old != nullptr) {
    c.keys().before_change(to, c[2]);
    c.keys()[to].replace(old, fresh, hash);
  } else {
    c.keys()[to].add(fresh, hash);
  }
  c.keys().touch(to, c[2]);
  c.keys().changes().record();
  c.keys().notify(event_new, "new", c[2], to);
  c.keys().notify(event_generic, "copy_to", c[2], to);
  c.reply.integer(1);
}

// --- OBJECT

const entry* look_at(call& c) {
  const entry* const found = c.keys().find(c.who.database, c[2], hash_of(c[2]));
  if (found == nullptr) c.reply.null();
  return found;
}

void object_encoding(call& c) {
  if (const auto* const found = look_at(c)) c.reply.bulk(found->encoding());
}

// In Redis, all small numbers share one object, whose count this is.
void object_refcount(call& c) {
  constexpr std::int64_t shared_below = 10'000;
  const auto* const found = look_at(c);
  if (found == nullptr) return;
  const bool is_shared = found->is_string() && found->is_integer() && found->integer() >= 0 &&
                         found->integer() < shared_below && c.home().settings().maxmemory == 0;
  c.reply.integer(is_shared ? INT32_MAX : 1);
}

void object_idletime(call& c) {
  const auto* const found = look_at(c);
  if (found == nullptr) return;
  if (is_lfu(c.home().settings().policy)) {
    c.fail(
        "ERR An LFU maxmemory policy is selected, idle time not tracked. Please note that when "
        "switching between policies at runtime LRU and LFU data will take some time to adjust.");
    return;
  }
  c.reply.integer(idle_seconds(found->access(), c.now_ms()));
}

void object_freq(call& c) {
  const auto* const found = look_at(c);
  if (found == nullptr) return;
  if (!is_lfu(c.home().settings().policy)) {
    c.fail(
        "ERR An LFU maxmemory policy is not selected, access frequency not tracked. Please note "
        "that when switching between policies at runtime LRU and LFU data will take some time "
        "to adjust.");
    return;
  }
  c.reply.integer(use_frequency(c.home().settings(), found->access(), c.now_ms()));
}

void object_help(call& c) {
  constexpr std::array<std::string_view, 5> lines = {
      "OBJECT <subcommand> KEY. Subcommands are:", "ENCODING -- returns the format of the value.",
      "FREQ -- returns how often the key is accessed (LFU).",
      "IDLETIME -- returns the seconds since the last access.",
      "REFCOUNT -- returns the number of references to the value."};
  c.reply_lines(lines);
}

// clang-format off
const command_row object_rows[] = {
    {"encoding", 3, "readonly", {2, 2, 1},
     "RO 2 0 1", "keyspace", "2.2.3",
     "returns the format in which a value is kept in memory", object_encoding},
    {"freq", 3, "readonly", {2, 2, 1},
     "RO 2 0 1", "keyspace", "4.0.0",
     "returns how often a key is accessed, on a logarithmic scale", object_freq},
    {"help", 2, "loading stale", {0, 0, 0},
     "", "keyspace", "6.2.0",
     "lists the subcommands of OBJECT", object_help},
    {"idletime", 3, "readonly", {2, 2, 1},
     "RO 2 0 1", "keyspace", "2.2.3",
     "returns the time since a key was last accessed", object_idletime},
    {"refcount", 3, "readonly", {2, 2, 1},
     "RO 2 0 1", "keyspace", "2.2.3",
     "returns the number of references to a value", object_refcount},
};

const command_row key_rows[] = {
    {"copy", -3, "write denyoom", {1, 2, 1},
     "RO access 1 0 1; OW update 2 0 1", "keyspace", "6.2.0",
     "copies a value to another key", copy},
    {"del", -2, "write", {1, -1, 1},
     "RM delete 1 -1 1", "keyspace", "1.0.0",
     "removes keys", del},
    {"exists", -2, "readonly fast", {1, -1, 1},
     "RO 1 -1 1", "keyspace", "1.0.0",
     "counts the given keys that exist", exists},
    {"move", 3, "write fast", {1, 1, 1},
     "RW access update 1 0 1", "keyspace", "1.0.0",
     "moves a key to another database", move},
    {"object", -2, "", {0, 0, 0},
     "", "", "2.2.3",
     "inspects the storage of a value", nullptr, object_rows},
    {"randomkey", 1, "readonly", {0, 0, 0},
     "", "keyspace", "1.0.0",
     "returns a random key", randomkey},
    {"rename", 3, "write", {1, 2, 1},
     "RW access delete 1 0 1; OW update 2 0 1", "keyspace", "1.0.0",
     "renames a key", rename},
    {"renamenx", 3, "write fast", {1, 2, 1},
     "RW access delete 1 0 1; OW insert 2 0 1", "keyspace", "1.0.0",
     "renames a key unless the new name exists", renamenx},
    {"touch", -2, "readonly fast", {1, -1, 1},
     "RO 1 -1 1", "keyspace", "3.2.1",
     "updates the access time of keys and counts the keys that exist", touch},
    {"type", 2, "readonly fast", {1, 1, 1},
     "RO 1 0 1", "keyspace", "1.0.0",
     "returns the type of a value", type},
    {"unlink", -2, "write fast", {1, -1, 1},
     "RM delete 1 -1 1", "keyspace", "4.0.0",
     "removes keys and frees their memory later", unlink},
};
// clang-format on

}  // namespace

command_group key_commands() { return {"generic", key_rows}; }

}  // namespace strata::runtime::cache
