// Values in the format of DUMP and RESTORE.
#include "runtime/cache/commands/commands.hpp"
#include "runtime/cache/disk/rdb.hpp"
#include "runtime/cache/engine/access.hpp"
#include "runtime/cache/engine/call.hpp"

namespace strata::runtime::cache {

namespace {

void dump(call& c) {
  const entry* const found = c.read(1);
  if (found == nullptr) {
    c.reply.null();
  } else {
    c.reply.bulk(rdb::dump(*found));
  }
}

struct restore_options {
  bool replaces = false;
  bool is_absolute = false;
  std::optional<std::int64_t> idle_s;
  std::optional<std::int64_t> frequency;
};

std::optional<restore_options> read_restore_options(call& c) {
  restore_options read;
  for (std::size_t i = 4; i < c.size(); ++i) {
    const bool has_value = i + 1 < c.size();
    if (c.is(i, "REPLACE")) {
      read.replaces = true;
    } else if (c.is(i, "ABSTTL")) {
      read.is_absolute = true;
    } else if (c.is(i, "IDLETIME") && has_value && !read.frequency) {
      read.idle_s = c.integer(++i);
      if (!read.idle_s) return {};
      if (*read.idle_s < 0) {
        c.fail("ERR Invalid IDLETIME value, must be >= 0");
        return {};
      }
    } else if (c.is(i, "FREQ") && has_value && !read.idle_s) {
      read.frequency = c.integer(++i);
      if (!read.frequency) return {};
      if (*read.frequency < 0 || *read.frequency > 255) {
        c.fail("ERR Invalid FREQ value, must be >= 0 and <= 255");
        return {};
      }
    } else {
      c.fail_syntax();
      return {};
    }
  }
  return read;
}

void restore(call& c) {
  const auto options = read_restore_options(c);
  if (!options) return;
  const auto hash = c.hash(1);
  entry* const old = c.keys().find(c.who.database, c[1], hash);
  if (old != nullptr && !options->replaces) {
    c.fail("BUSYKEY Target key name already exists.");
    return;
  }
  const auto ttl = c.integer(2);
  if (!ttl) return;
  if (*ttl < 0) {
    c.fail("ERR Invalid TTL value, must be >= 0");
    return;
  }
  auto expires = entry::never;
  if (*ttl != 0) expires = options->is_absolute ? *ttl : *ttl + c.now_ms();
  auto why = rdb::refusal::none;
  entry* const made = rdb::restore(c[3], c[1], expires, c.home().settings(), why);
  if (made == nullptr) {
    c.fail(why == rdb::refusal::wrong_checksum ? "ERR DUMP payload version or checksum are wrong"
                                               : "ERR Bad data format");
    return;
  }
  if (expires != entry::never && expires <= c.now_ms() && !c.keys().expires_by_leader()) {
    entry::destroy(made);
    if (old != nullptr) {
      c.propagate_as("DEL", c[1]);
      c.remove(old, hash);
      c.keys().changes().record();
    }
    c.reply.ok();
    return;
  }
  c.store(made, hash);
  if (options->frequency || options->idle_s) {
    made->set_access(
        stored_access(c.home().settings(), c.now_ms(), options->idle_s, options->frequency));
  }
  c.changed(c[1], event_generic, "restore");
  if (expires != entry::never) {
    c.propagate_as("RESTORE", c[1], text::integer_text(expires).view(), c[3], "REPLACE", "ABSTTL");
  }
  c.reply.ok();
}

// clang-format off
const command_row serialization_rows[] = {
    {"dump", 2, "readonly", {1, 1, 1},
     "RO access 1 0 1", "keyspace", "2.6.0",
     "returns the value of a key in the format that RESTORE accepts", dump},
    {"restore", -4, "write denyoom", {1, 1, 1},
     "OW update 1 0 1", "keyspace dangerous", "2.6.0",
     "creates a value from the output of DUMP", restore},
};
// clang-format on

}  // namespace

command_group serialization_commands() { return {"generic", serialization_rows}; }

}  // namespace strata::runtime::cache
