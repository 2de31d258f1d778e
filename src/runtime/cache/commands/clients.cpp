// CLIENT: the connections of a cache.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/cache/commands/client_tracking.hpp"
#include "runtime/cache/commands/commands.hpp"
#include "runtime/cache/engine/call.hpp"
#include "runtime/cache/engine/clients/client_text.hpp"
#include "runtime/cache/engine/replication.hpp"
#include "text/word.hpp"

namespace strata::runtime::cache {

namespace {

void client_id(call& c) { c.reply.integer(static_cast<std::int64_t>(c.who.id)); }

void client_info(call& c) { c.reply.verbatim("txt", client_text(c.home(), c.who) + "\n"); }

std::optional<bool> matches_type(call& c, std::string_view type, const client& client) {
  if (text::same_text(type, "normal")) return !client.is_subscribed() && !client.is_follower;
  if (text::same_text(type, "pubsub")) return client.is_subscribed() && !client.is_follower;
  if (text::same_text(type, "replica") || text::same_text(type, "slave")) {
    return client.is_follower;
  }
  // The connection to the leader is not among the clients.
  if (text::same_text(type, "master")) return false;
  c.fail("ERR Unknown client type '" + std::string(type) + "'");
  return {};
}

void client_list(call& c) {
  std::vector<std::uint64_t> ids;
  std::optional<std::string_view> type;
  if (c.size() == 4 && c.is(2, "TYPE")) {
    type = c[3];
    if (!matches_type(c, *type, c.who)) return;
  } else if (c.size() > 3 && c.is(2, "ID")) {
    for (const auto& each : c.words.subspan(3)) {
      const auto id = text::parse_integer(each);
      if (!id) {
        c.fail("ERR Invalid client ID");
        return;
      }
      ids.push_back(static_cast<std::uint64_t>(*id));
    }
  } else if (c.size() != 2) {
    c.fail_syntax();
    return;
  }
  std::string text;
  for (auto* each : c.home().clients()) {
    if (type && !*matches_type(c, *type, *each)) continue;
    if (!ids.empty() && std::ranges::find(ids, each->id) == ids.end()) continue;
    text += client_text(c.home(), *each) + "\n";
  }
  c.reply.verbatim("txt", text);
}

void client_setname(call& c) {
  if (!text::is_visible(c[2])) {
    c.fail("ERR Client names cannot contain spaces, newlines or special characters.");
    return;
  }
  c.who.name = c[2];
  c.reply.ok();
}

void client_getname(call& c) {
  if (c.who.name.empty()) {
    c.reply.null();
  } else {
    c.reply.bulk(c.who.name);
  }
}

void client_reply(call& c) {
  if (c.is(2, "ON")) {
    c.who.replies = reply_mode::on;
    c.who.reply().ok();
  } else if (c.is(2, "OFF")) {
    c.who.replies = reply_mode::off;
  } else if (c.is(2, "SKIP")) {
    if (c.who.replies != reply_mode::off) c.who.replies = reply_mode::skip_next;
  } else {
    c.fail_syntax();
  }
}

void client_no_evict(call& c) {
  if (!c.is(2, "ON") && !c.is(2, "OFF")) {
    c.fail_syntax();
    return;
  }
  c.who.no_evict = c.is(2, "ON");
  c.reply.ok();
}

void client_no_touch(call& c) {
  if (!c.is(2, "ON") && !c.is(2, "OFF")) {
    c.fail_syntax();
    return;
  }
  c.who.no_touch = c.is(2, "ON");
  c.reply.ok();
}

void client_setinfo(call& c) {
  const bool is_name = c.is(2, "LIB-NAME");
  if (!is_name && !c.is(2, "LIB-VER")) {
    c.fail("ERR Unrecognized option '" + std::string(c[2]) + "'");
    return;
  }
  if (!text::is_visible(c[3])) {
    c.fail(fmt::format("ERR {} cannot contain spaces, newlines or special characters.",
                       is_name ? "lib-name" : "lib-ver"));
    return;
  }
  (is_name ? c.who.library : c.who.library_version) = c[3];
  c.reply.ok();
}

// The clients that CLIENT KILL is to end.
struct kill_filter {
  std::optional<std::uint64_t> id;
  std::optional<std::string_view> address;
  std::optional<std::string_view> local;
  std::optional<std::string_view> user;
  std::optional<std::string_view> type;
  std::optional<std::int64_t> age_s;  // MAXAGE, of Redis 7.4
  bool spares_caller = true;
};

// Reads the seconds at word `index`. Returns false after an error.
bool read_age(call& c, std::size_t index, kill_filter& filter) {
  const auto age_s = c.integer(index, "ERR maxage is not an integer or out of range");
  if (!age_s) return false;
  if (*age_s <= 0) {
    c.fail("ERR maxage should be greater than 0");
    return false;
  }
  filter.age_s = age_s;
  return true;
}

std::optional<kill_filter> read_kill_filter(call& c) {
  kill_filter read;
  for (std::size_t i = 2; i < c.size(); i += 2) {
    if (i + 1 == c.size()) {
      c.fail_syntax();
      return {};
    }
    if (c.is(i, "ID")) {
      const auto id = text::parse_integer(c[i + 1]);
      if (!id || *id < 1) {
        c.fail("ERR client-id should be greater than 0");
        return {};
      }
      read.id = static_cast<std::uint64_t>(*id);
    } else if (c.is(i, "ADDR")) {
      read.address = c[i + 1];
    } else if (c.is(i, "LADDR")) {
      read.local = c[i + 1];
    } else if (c.is(i, "TYPE")) {
      if (!matches_type(c, c[i + 1], c.who)) return {};
      read.type = c[i + 1];
    } else if (c.is(i, "USER")) {
      if (c.home().users().find(c[i + 1]) == nullptr) {
        c.fail("ERR No such user '" + std::string(c[i + 1]) + "'");
        return {};
      }
      read.user = c[i + 1];
    } else if (c.is(i, "MAXAGE") && c.knows(version_7_4)) {
      if (!read_age(c, i + 1, read)) return {};
    } else if (c.is(i, "SKIPME") && (c.is(i + 1, "YES") || c.is(i + 1, "NO"))) {
      read.spares_caller = c.is(i + 1, "YES");
    } else {
      c.fail_syntax();
      return {};
    }
  }
  return read;
}

std::int64_t end_matching(call& c, const kill_filter& filter) {
  std::int64_t ended = 0;
  for (auto* each : std::vector(c.home().clients())) {
    if (filter.id && each->id != *filter.id) continue;
    if (filter.address && each->remote_address() != *filter.address) continue;
    if (filter.local && each->local_address() != *filter.local) continue;
    if (filter.user && (each->user == nullptr || each->user->name() != *filter.user)) continue;
    if (filter.type && !*matches_type(c, *filter.type, *each)) continue;
    if (filter.age_s && (c.now_ms() - each->since_ms) / 1000 < *filter.age_s) continue;
    if (each == &c.who && filter.spares_caller) continue;
    if (each == &c.who) {
      each->disconnect(true);
    } else {
      c.home().disconnect(*each);
    }
    ++ended;
  }
  return ended;
}

// The connection to the leader is none of the clients.
std::int64_t cut_link(call& c, const kill_filter& filter) {
  if (!filter.type || !text::same_text(*filter.type, "master")) return 0;
  if (filter.id || filter.address || filter.local || filter.user || filter.age_s) return 0;
  auto* const replication = c.home().replicated_by();
  return replication != nullptr && replication->cut_link() ? 1 : 0;
}

void client_kill(call& c) {
  if (c.size() == 3) {
    const auto ended = end_matching(c, {.address = c[2], .spares_caller = false});
    if (ended != 0) {
      c.reply.ok();
    } else {
      c.fail("ERR No such client");
    }
    return;
  }
  const auto filter = read_kill_filter(c);
  if (filter) c.reply.integer(end_matching(c, *filter) + cut_link(c, *filter));
}

void client_unblock(call& c) {
  const bool with_error = c.size() == 4 && c.is(3, "ERROR");
  if (c.size() > 4 || (c.size() == 4 && !with_error && !c.is(3, "TIMEOUT"))) {
    c.fail("ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR");
    return;
  }
  const auto id = c.integer(2);
  if (!id) return;
  for (auto* each : c.home().clients()) {
    if (each->id != static_cast<std::uint64_t>(*id) || !each->waiting) continue;
    if (with_error) {
      c.home().blocked().remove(*each);
      each->reply().error("UNBLOCKED client unblocked via CLIENT UNBLOCK");
      each->resume(false);
    } else {
      c.home().give_up_waiting(*each);
    }
    c.reply.integer(1);
    return;
  }
  c.reply.integer(0);
}

void client_pause(call& c) {
  if (c.size() > 4) {
    c.fail_subcommand();
    return;
  }
  if (c.size() == 4 && !c.is(3, "WRITE") && !c.is(3, "ALL")) {
    c.fail("ERR CLIENT PAUSE mode must be WRITE or ALL");
    return;
  }
  const auto ms = c.integer(2, "ERR timeout is not an integer or out of range");
  if (!ms) return;
  if (*ms < 0) {
    c.fail("ERR timeout is negative");
    return;
  }
  std::int64_t end_ms = 0;
  // In Redis, a time so long that it overflows the clock does not pause at all.
  if (!__builtin_add_overflow(c.now_ms(), *ms, &end_ms) && *ms != 0) {
    const bool only_writes = c.size() == 4 && c.is(3, "WRITE");
    c.home().pausing().begin(only_writes ? pause::extent::writes : pause::extent::all, end_ms);
  }
  c.reply.ok();
}

void client_unpause(call& c) {
  c.home().pausing().end();
  c.reply.ok();
}

void client_help(call& c) {
  constexpr std::array<std::string_view, 18> lines = {
      "CLIENT <subcommand>. Subcommands are:",
      "CACHING YES|NO -- sets whether the keys that the next command reads are tracked.",
      "GETNAME -- returns the name of this connection.",
      "GETREDIR -- returns the connection that receives the tracking messages.",
      "ID -- returns the ID of this connection.",
      "INFO -- returns the properties of this connection.",
      "KILL <address> | ID <id> | TYPE <type> -- closes connections.",
      "LIST [TYPE <type> | ID <id> ...] -- returns the properties of connections.",
      "NO-EVICT ON|OFF -- keeps this connection open when memory is short.",
      "NO-TOUCH ON|OFF -- sets whether this connection's commands leave the access of keys as it "
      "is.",
      "PAUSE <ms> [WRITE|ALL] -- delays commands for a given time.",
      "REPLY ON|OFF|SKIP -- sets whether this connection receives replies.",
      "SETINFO LIB-NAME|LIB-VER <text> -- sets the client library's name or version.",
      "SETNAME <name> -- sets the name of this connection.",
      "TRACKING ON|OFF [REDIRECT <id>] [BCAST] [PREFIX <prefix> ...] [OPTIN] [OPTOUT] [NOLOOP]"
      " -- enables or disables tracking of keys for client-side caching.",
      "TRACKINGINFO -- returns the tracking settings of this connection.",
      "UNBLOCK <id> [TIMEOUT|ERROR] -- ends the blocking command of a connection.",
      "UNPAUSE -- ends a pause."};
  c.reply_lines(lines);
}

// clang-format off
const command_row client_rows[] = {
    {"caching", 3, "noscript loading stale", {0, 0, 0},
     "", "connection", "6.0.0",
     "sets whether the keys that the next command reads are tracked", client_caching},
    {"getname", 2, "noscript loading stale", {0, 0, 0},
     "", "connection", "2.6.9",
     "returns the name of this connection", client_getname},
    {"getredir", 2, "noscript loading stale", {0, 0, 0},
     "", "connection", "6.0.0",
     "returns the connection that receives the tracking messages", client_getredir},
    {"help", 2, "loading stale", {0, 0, 0},
     "", "connection", "5.0.0",
     "lists the subcommands of CLIENT", client_help},
    {"id", 2, "noscript loading stale", {0, 0, 0},
     "", "connection", "5.0.0",
     "returns the ID of this connection", client_id},
    {"info", 2, "noscript loading stale", {0, 0, 0},
     "", "connection", "6.2.0",
     "returns the properties of this connection", client_info},
    {"kill", -3, "admin noscript loading stale", {0, 0, 0},
     "", "admin dangerous connection", "2.4.0",
     "closes connections", client_kill},
    {"list", -2, "admin noscript loading stale", {0, 0, 0},
     "", "admin dangerous connection", "2.4.0",
     "returns the properties of all connections", client_list},
    {"no-evict", 3, "admin noscript loading stale", {0, 0, 0},
     "", "admin dangerous connection", "7.0.0",
     "keeps this connection open when memory is short", client_no_evict},
    {"no-touch", 3, "noscript loading stale", {0, 0, 0},
     "", "connection", "7.2.0",
     "sets whether the commands of this connection count as accesses of keys", client_no_touch},
    {"pause", -3, "admin noscript loading stale", {0, 0, 0},
     "", "admin dangerous connection", "2.9.50",
     "delays commands for a given time", client_pause},
    {"reply", 3, "noscript loading stale", {0, 0, 0},
     "", "connection", "3.2.0",
     "sets whether this connection receives replies", client_reply},
    {"setinfo", 4, "noscript loading stale", {0, 0, 0},
     "", "connection", "7.2.0",
     "sets the name or version of the client library of this connection", client_setinfo},
    {"setname", 3, "noscript loading stale", {0, 0, 0},
     "", "connection", "2.6.9",
     "sets the name of this connection", client_setname},
    {"tracking", -3, "noscript loading stale", {0, 0, 0},
     "", "connection", "6.0.0",
     "enables or disables tracking of keys for client-side caching", client_tracking},
    {"trackinginfo", 2, "noscript loading stale", {0, 0, 0},
     "", "connection", "6.2.0",
     "returns the tracking settings of this connection", client_trackinginfo},
    {"unblock", -3, "admin noscript loading stale", {0, 0, 0},
     "", "admin dangerous connection", "5.0.0",
     "ends the blocking command of another connection", client_unblock},
    {"unpause", 2, "admin noscript loading stale", {0, 0, 0},
     "", "admin dangerous connection", "6.2.0",
     "ends a pause", client_unpause},
};

const command_row client_group_rows[] = {
    {"client", -2, "", {0, 0, 0},
     "", "", "2.4.0",
     "inspects and manages connections", nullptr, client_rows},
};
// clang-format on

}  // namespace

command_group client_commands() { return {"connection", client_group_rows}; }

}  // namespace strata::runtime::cache
