// Commands on the connection itself.
#include "runtime/cache/commands/commands.hpp"
#include "runtime/cache/engine/call.hpp"
#include "text/word.hpp"

namespace strata::runtime::cache {

namespace {

void ping(call& c) {
  if (c.size() > 2) {
    c.fail_arity();
    return;
  }
  if (c.who.is_subscribed() && !c.reply.is_resp3()) {
    c.reply.array(2);
    c.reply.bulk("pong");
    c.reply.bulk(c.size() == 2 ? c[1] : "");
  } else if (c.size() == 2) {
    c.reply.bulk(c[1]);
  } else {
    c.reply.status("PONG");
  }
}

void echo(call& c) { c.reply.bulk(c[1]); }

void quit(call& c) {
  c.reply.ok();
  c.who.disconnect(true);
}

void select(call& c) {
  const auto index = c.integer(1);
  if (!index) return;
  if (*index < 0 || *index >= keyspace::database_count) {
    c.fail("ERR DB index is out of range");
    return;
  }
  c.who.database = static_cast<unsigned>(*index);
  c.reply.ok();
}

bool log_in(call& c, std::string_view name, std::string_view password) {
  const auto* const user = c.home().users().find(name);
  if (user != nullptr && user->accepts(password)) {
    c.home().log_in(c.who, *user);
    return true;
  }
  c.home().note_wrong_password(c.who);
  c.home().note_denial(c.who,
                       {.reason = "auth",
                        .context = c.is_inside() ? acl_context::transaction : acl_context::toplevel,
                        .object = std::string(c[0]),
                        .user = std::string(name)});
  c.fail("WRONGPASS invalid username-password pair or user is disabled.");
  return false;
}

void auth(call& c) {
  if (c.size() > 3) {
    c.fail_syntax();
    return;
  }
  if (c.size() == 2 && !c.home().users().default_user().needs_password()) {
    c.fail(
        "ERR AUTH <password> called without any password configured for the default user. Are "
        "you sure your configuration is correct?");
    return;
  }
  if (log_in(c, c.size() == 3 ? c[1] : default_user_name, c[c.size() - 1])) c.reply.ok();
}

// Reads HELLO's additional options: AUTH user password, SETNAME name.
bool read_hello(call& c) {
  for (std::size_t i = 2; i < c.size(); ++i) {
    if (c.is(i, "AUTH") && i + 2 < c.size()) {
      if (!log_in(c, c[i + 1], c[i + 2])) return false;
      i += 2;
    } else if (c.is(i, "SETNAME") && i + 1 < c.size()) {
      if (!text::is_visible(c[++i])) {
        c.fail("ERR Client names cannot contain spaces, newlines or special characters.");
        return false;
      }
      c.who.name = c[i];
    } else {
      c.fail("ERR Syntax error in HELLO option '" + std::string(c[i]) + "'");
      return false;
    }
  }
  return true;
}

void hello(call& c) {
  std::int64_t protocol = c.reply.is_resp3() ? 3 : 2;
  if (c.size() > 1) {
    const auto wanted = c.integer(1, "ERR Protocol version is not an integer or out of range");
    if (!wanted) return;
    if (*wanted < 2 || *wanted > 3) {
      c.fail("NOPROTO unsupported protocol version");
      return;
    }
    protocol = *wanted;
  }
  if (!read_hello(c)) return;
  if (!c.who.is_trusted) {
    c.fail(
        "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO "
        "AUTH <user> <pass> option can be used to authenticate the client and select "
        "the RESP protocol version at the same time");
    return;
  }
  c.reply.speak(static_cast<int>(protocol));
  c.reply.map(7);
  c.reply.bulk("server");
  c.reply.bulk("redis");
  c.reply.bulk("version");
  c.reply.bulk(c.home().settings().version.reported);
  c.reply.bulk("proto");
  c.reply.integer(protocol);
  c.reply.bulk("id");
  c.reply.integer(static_cast<std::int64_t>(c.who.id));
  c.reply.bulk("mode");
  c.reply.bulk("standalone");
  c.reply.bulk("role");
  c.reply.bulk(c.home().availability().has(obstacle::follows) ? "replica" : "master");
  c.reply.bulk("modules");
  c.reply.array(0);
}

void reset(call& c) {
  auto& who = c.who;
  who.in_transaction = who.transaction_failed = who.watch_failed = false;
  who.queued.clear();
  c.home().watched().unwatch(who);
  c.home().channels().leave(who);
  c.home().trackers().disable(who);
  who.is_monitor = who.no_evict = who.no_touch = false;
  who.replies = reply_mode::on;
  who.database = 0;
  who.name.clear();
  c.home().log_out(who);
  c.reply.speak(2);
  c.reply.status("RESET");
}

// clang-format off
const command_row connection_rows[] = {
    {"auth", -2, "noscript loading stale fast no_auth allow_busy", {0, 0, 0},
     "", "connection", "1.0.0",
     "logs in with a password", auth},
    {"echo", 2, "loading stale fast", {0, 0, 0},
     "", "connection", "1.0.0",
     "returns its argument", echo},
    {"hello", -1, "noscript loading stale fast no_auth allow_busy", {0, 0, 0},
     "", "connection", "6.0.0",
     "selects the protocol version and optionally logs in", hello},
    {"ping", -1, "fast", {0, 0, 0},
     "", "connection", "1.0.0",
     "checks that the cache responds", ping, {}, trait_for_subscribers},
    {"quit", -1, "noscript loading stale fast no_auth allow_busy", {0, 0, 0},
     "", "connection", "1.0.0",
     "closes the connection after a last reply", quit, {},
     trait_for_subscribers | trait_ends_transaction},
    {"reset", 1, "noscript loading stale fast no_auth allow_busy", {0, 0, 0},
     "", "connection", "6.2.0",
     "restores the initial state of the connection", reset, {},
     trait_for_subscribers | trait_ends_transaction},
    {"select", 2, "loading stale fast", {0, 0, 0},
     "", "connection", "1.0.0",
     "selects the database of the connection", select},
};
// clang-format on

}  // namespace

command_group connection_commands() { return {"connection", connection_rows}; }

}  // namespace strata::runtime::cache
