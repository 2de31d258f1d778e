// DEBUG, as far as test suites use it.
#include <fmt/format.h>

#include <cmath>

#include "runtime/cache/commands/commands.hpp"
#include "runtime/cache/disk/rdb.hpp"
#include "runtime/cache/disk/snapshot.hpp"
#include "runtime/cache/engine/access.hpp"
#include "runtime/cache/engine/call.hpp"
#include "runtime/cache/engine/digest.hpp"
#include "text/word.hpp"

namespace strata::runtime::cache {

namespace {

// Only the calling client waits: the loop has others to serve.
void sleep(call& c) {
  const auto seconds = text::parse_real(c[2]);
  if (!seconds || *seconds < 0 || *seconds > 1e9) {
    c.fail(not_float_error);
    return;
  }
  // The time of commands does not count their waits, but here the wait is the time that matters.
  c.home().statistics().count_time(c.who, c.what, c.words,
                                   static_cast<std::int64_t>(*seconds * 1e6));
  c.wait_for({}, c.now_ms() + static_cast<std::int64_t>(std::ceil(*seconds * 1000)),
             [](front&, client& client) { client.reply().ok(); });
}

void object(call& c) {
  const entry* const found = c.keys().find(c.who.database, c[2], hash_of(c[2]));
  if (found == nullptr) {
    c.fail(no_key_error);
    return;
  }
  rdb::writer written;
  written.value(*found);
  c.reply.status(fmt::format(
      "Value at:{:#x} refcount:1 encoding:{} serializedlength:{} lru:{} lru_seconds_idle:{}",
      reinterpret_cast<std::uintptr_t>(found), found->encoding(), written.text().size(),
      found->access(), idle_seconds(found->access(), c.now_ms())));
}

void digest_all(call& c) { c.reply.status(digest::of_all(c.keys()).text()); }

void digest_values(call& c) {
  c.reply.array(c.size() - 2);
  for (std::size_t i = 2; i < c.size(); ++i) {
    const entry* const found = c.keys().find(c.who.database, c[i], hash_of(c[i]));
    c.reply.status(found == nullptr ? digest().text() : digest::of_value(*found).text());
  }
}

// Converts the data to a snapshot and back, in memory.
void reload(call& c) {
  if (c.keys().is_guarded()) {
    c.fail("ERR a snapshot is being written: try again later");
    return;
  }
  std::string text;
  {
    snapshot taken(c.keys(), false);
    while (taken.step(std::chrono::seconds(1))) {
    }
    text = taken.take();
  }
  for (unsigned i = 0; i < keyspace::database_count; ++i) c.keys()[i].clear();
  rdb::file_reader reader(text, c.keys(), c.home().settings());
  while (reader.step(SIZE_MAX) == rdb::file_reader::outcome::more) {
  }
  if (!reader.why().empty()) {
    c.fail("ERR " + reader.why());
    return;
  }
  c.reply.ok();
}

void set_active_expire(call& c) {
  c.keys().set_active_expiry(c[2] != "0");
  c.reply.ok();
}

void populate(call& c) {
  const auto count = c.integer(2);
  const auto size = count && c.size() > 4 ? c.integer(4) : std::optional<std::int64_t>(0);
  if (!count || !size) return;
  const auto prefix = c.size() > 3 ? c[3] : std::string_view("key");
  for (std::int64_t i = 0; i < *count; ++i) {
    const auto key = fmt::format("{}:{}", prefix, i);
    const auto hash = hash_of(key);
    if (c.keys().find(c.who.database, key, hash) != nullptr) continue;
    auto value = fmt::format("value:{}", i);
    if (*size > 0) value.resize(static_cast<std::size_t>(*size));
    c.add(entry::make_text(key, value), hash);
  }
  c.reply.ok();
}

void reply_numbers(call& c, bool with_flags) {
  for (int i = 0; i < 3; ++i) {
    c.reply.integer(i);
    if (with_flags) c.reply.boolean(i == 1);
  }
}

void protocol(call& c) {
  if (c.is(2, "STRING")) {
    c.reply.bulk("Hello World");
  } else if (c.is(2, "INTEGER")) {
    c.reply.integer(12345);
  } else if (c.is(2, "DOUBLE")) {
    c.reply.real(3.141);
  } else if (c.is(2, "NULL")) {
    c.reply.null();
  } else if (c.is(2, "ARRAY")) {
    c.reply.array(3);
    reply_numbers(c, false);
  } else if (c.is(2, "SET")) {
    c.reply.set(3);
    reply_numbers(c, false);
  } else if (c.is(2, "MAP")) {
    c.reply.map(3);
    reply_numbers(c, true);
  } else if (c.is(2, "VERBATIM")) {
    c.reply.verbatim("txt", "This is a verbatim\nstring");
  } else if (c.is(2, "BIGNUM")) {
    c.reply.big_number("1234567999999999999999999999999999999");
  } else if (c.is(2, "ATTRIB")) {
    if (c.who.is_resp3()) {
      c.reply.raw("|1\r\n");
      c.reply.bulk("key-popularity");
      c.reply.array(2);
      c.reply.bulk("key:123");
      c.reply.integer(90);
    }
    c.reply.bulk("Some real reply following the attribute");
  } else if (c.is(2, "TRUE")) {
    c.reply.boolean(true);
  } else if (c.is(2, "FALSE")) {
    c.reply.boolean(false);
  } else {
    c.fail(
        "ERR Wrong protocol type name. Please use one of the following: "
        "string|integer|double|null|array|set|map|attrib|verbatim|bignum|true|false");
  }
}

void error(call& c) { c.fail(c[2]); }

// Internal settings of Redis that test suites change: nothing here depends on them.
void accept(call& c) { c.reply.ok(); }

struct debug_row {
  std::string_view name;
  std::size_t least_words;
  std::size_t most_words;
  void (*run)(call&);
  std::string_view summary;
};

void help(call& c);

constexpr debug_row table[] = {
    {"digest", 2, 2, digest_all, "DIGEST -- returns a digest of all data."},
    {"digest-value", 2, SIZE_MAX, digest_values,
     "DIGEST-VALUE [<key> ...] -- returns digests of values."},
    {"error", 3, 3, error, "ERROR <text> -- replies with this error."},
    {"help", 2, 2, help, "HELP -- lists the subcommands."},
    {"object", 3, 4, object, "OBJECT <key> -- returns details of the storage of a value."},
    {"populate", 3, 5, populate, "POPULATE <count> [<prefix>] [<size>] -- creates keys."},
    {"protocol", 3, 3, protocol, "PROTOCOL <type> -- replies with a value of this type."},
    {"quicklist-packed-threshold", 3, 3, accept,
     "QUICKLIST-PACKED-THRESHOLD <size> -- has no effect."},
    {"reload", 2, 5, reload, "RELOAD -- writes a snapshot to memory and loads it."},
    {"set-active-expire", 3, 3, set_active_expire,
     "SET-ACTIVE-EXPIRE <0|1> -- sets whether expired keys are removed before an access."},
    {"sleep", 3, 3, sleep, "SLEEP <seconds> -- delays this client."},
};

void help(call& c) {
  c.reply.array(std::size(table) + 1);
  c.reply.status("DEBUG <subcommand>. Subcommands are:");
  for (const auto& each : table) c.reply.status(each.summary);
}

void debug(call& c) {
  for (const auto& each : table) {
    if (!text::same_text(each.name, c[1])) continue;
    if (c.size() < each.least_words || c.size() > each.most_words) break;
    each.run(c);
    return;
  }
  c.fail_subcommand();
}

// clang-format off
const command_row debug_rows[] = {
    {"debug", -2, "admin noscript loading stale", {0, 0, 0},
     "", "admin dangerous", "1.0.0",
     "offers functions for test suites", debug},
};
// clang-format on

}  // namespace

command_group debug_commands() { return {"server", debug_rows}; }

}  // namespace strata::runtime::cache
