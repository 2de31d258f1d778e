// Values in the format of DUMP and RESTORE, and MIGRATE, which sends them to another server.
#include "runtime/cache/commands/commands.hpp"
#include "runtime/cache/disk/rdb.hpp"
#include "runtime/cache/engine/access.hpp"
#include "runtime/cache/engine/call.hpp"
#include "runtime/cache/engine/replication.hpp"

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
  ++c.keys().counted().checked_payloads;
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
  // In Redis, a replaced key is removed, and then a new one.
  if (old != nullptr) c.keys().notify(event_new, "new", c[1], c.who.database);
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

// --- MIGRATE

constexpr std::int64_t usual_migration_timeout_ms = 1000;

// The keys are views of the call's words.
struct migration_words {
  migration_request request;
  std::span<const std::string_view> keys;
};

std::optional<migration_words> read_migration_options(call& c) {
  migration_words read{.request = {}, .keys = c.words.subspan(3, 1)};
  auto& request = read.request;
  for (std::size_t i = 6; i < c.size(); ++i) {
    const auto left = c.size() - i - 1;
    if (c.is(i, "COPY")) {
      request.keeps_keys = true;
    } else if (c.is(i, "REPLACE")) {
      request.replaces = true;
    } else if (c.is(i, "AUTH") && left >= 1) {
      request.password = c[++i];
      request.has_password = true;
    } else if (c.is(i, "AUTH2") && left >= 2) {
      request.user = c[i + 1];
      request.password = c[i + 2];
      request.has_password = true;
      i += 2;
    } else if (c.is(i, "KEYS")) {
      if (!c[3].empty()) {
        c.fail(
            "ERR When using MIGRATE KEYS option, the key argument must be set to the empty "
            "string");
        return {};
      }
      read.keys = c.words.subspan(i + 1);
      break;
    } else {
      c.fail_syntax();
      return {};
    }
  }
  return read;
}

// A client can be unblocked, but what it has begun continues.
void reply_unblocked(front& /*front*/, client& client) {
  client.reply().error("UNBLOCKED the client was unblocked; its keys are still being migrated");
}

void migrate(call& c) {
  auto read = read_migration_options(c);
  if (!read) return;
  const auto timeout_ms = c.integer(5);
  const auto database = timeout_ms ? c.integer(4) : std::nullopt;
  if (!database) return;
  auto& request = read->request;
  for (const auto& key : read->keys) {
    if (c.read_key(key) != nullptr) request.keys.emplace_back(key);
  }
  if (request.keys.empty()) {
    c.reply.status("NOKEY");
    return;
  }
  if (!c.may_block()) {
    c.fail(
        "ERR MIGRATE waits for the other server, so a transaction or a script cannot execute it");
    return;
  }
  request.host = c[1];
  request.port = c[2];
  request.database = std::to_string(*database);
  request.timeout_ms = *timeout_ms > 0 ? *timeout_ms : usual_migration_timeout_ms;
  c.wait_for({}, std::nullopt, reply_unblocked);
  c.home().replicated_by()->migrate(c.who, std::move(request));
}

// clang-format off
const command_row serialization_rows[] = {
    {"dump", 2, "readonly", {1, 1, 1},
     "RO access 1 0 1", "keyspace", "2.6.0",
     "returns the value of a key in the format that RESTORE accepts", dump},
    {"migrate", -6, "write movablekeys", {3, 3, 1},
     "RW access delete 3 0 1; RW access delete incomplete KEYS@-2 -1 1",
     "keyspace dangerous", "2.6.0",
     "moves keys to another server", migrate},
    {"restore", -4, "write denyoom", {1, 1, 1},
     "OW update 1 0 1", "keyspace dangerous", "2.6.0",
     "creates a value from the output of DUMP", restore},
    {"restore-asking", -4, "write denyoom asking", {1, 1, 1},
     "OW update 1 0 1", "keyspace dangerous", "3.0.0",
     "creates a value from the output of DUMP; for use between the nodes of a cluster", restore},
};
// clang-format on

}  // namespace

command_group serialization_commands() { return {"generic", serialization_rows}; }

}  // namespace strata::runtime::cache
