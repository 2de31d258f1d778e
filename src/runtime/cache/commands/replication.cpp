// Commands between caches, and on which cache follows which.
#include "runtime/cache/engine/replication.hpp"

#include "runtime/cache/commands/commands.hpp"
#include "runtime/cache/engine/call.hpp"
#include "runtime/cache/engine/persistence.hpp"
#include "text/word.hpp"

namespace strata::runtime::cache {

namespace {

void replconf(call& c) {
  auto& with = *c.home().replicated_by();
  if (c.size() % 2 == 0) {
    c.fail_syntax();
    return;
  }
  for (std::size_t i = 1; i + 1 < c.size(); i += 2) {
    if (c.is(i, "ACK")) {
      const auto offset = text::parse_integer(c[i + 1]);
      const auto synced = c.is(i + 2, "FACK") && i + 3 < c.size() ? text::parse_integer(c[i + 3])
                                                                  : std::optional(std::int64_t{0});
      if (offset && synced) {
        with.acknowledge(c.who, static_cast<std::uint64_t>(*offset),
                         static_cast<std::uint64_t>(*synced));
      }
      return;  // has no reply
    }
    if (c.is(i, "GETACK")) return;
    if (const auto wrong = with.configure(c.who, c[i], c[i + 1]); !wrong.empty()) {
      c.fail("ERR " + wrong);
      return;
    }
  }
  c.reply.ok();
}

// Returns false after an error.
bool has_data_to_give(call& c) {
  if (c.home().replicated_by()->is_failing_over()) {
    c.fail("NOMASTERLINK Can't SYNC while failing over");
    return false;
  }
  if (!c.home().availability().is_loading()) return true;
  c.fail("NOMASTERLINK Can't SYNC while not connected with my master");
  return false;
}

void psync(call& c) {
  auto& with = *c.home().replicated_by();
  if (c.size() > 3 && c.is(3, "FAILOVER")) {
    if (const auto wrong = with.take_over(c[1]); !wrong.empty()) {
      c.fail("ERR " + wrong);
      return;
    }
  }
  if (!has_data_to_give(c)) return;
  if (const auto from = c.integer(2)) with.synchronise(c.who, c[1], *from);
}

void sync(call& c) {
  if (has_data_to_give(c)) c.home().replicated_by()->send_everything(c.who);
}

// Also updates the daemon's record, so that the cache follows the same leader after a restart.
void keep_leader(call& c) {
  auto next = c.home().settings();
  next.options.follow = c.home().replicated_by()->leader_url();
  c.home().configure(std::move(next));
}

void replicaof(call& c) {
  auto& with = *c.home().replicated_by();
  if (with.is_failing_over()) {
    c.fail("ERR REPLICAOF not allowed while failing over.");
    return;
  }
  if (c.is(1, "NO") && c.is(2, "ONE")) {
    with.follow_nobody();
    keep_leader(c);
    c.reply.ok();
    return;
  }
  const auto port = c.integer(2, "ERR Invalid master port");
  if (!port) return;
  if (*port < 0 || *port > 65535) {
    c.fail("ERR Invalid master port");
    return;
  }
  const auto now = with.figures();
  if (now.is_follower && now.leader_host == c[1] &&
      now.leader_port == static_cast<unsigned>(*port)) {
    c.reply.status("OK Already connected to specified master");
    return;
  }
  with.follow(std::string(c[1]), static_cast<std::uint16_t>(*port));
  keep_leader(c);
  c.reply.ok();
}

// Returns nullopt after an error.
std::optional<failover_request> read_failover_options(call& c) {
  failover_request read;
  bool has_target = false;
  for (std::size_t i = 1; i < c.size(); ++i) {
    const auto left = c.size() - i - 1;
    if (c.is(i, "TIMEOUT") && left >= 1 && !read.timeout_ms) {
      read.timeout_ms = c.integer(++i);
      if (!read.timeout_ms) return {};
      if (*read.timeout_ms <= 0) {
        c.fail("ERR FAILOVER timeout must be greater than 0");
        return {};
      }
    } else if (c.is(i, "TO") && left >= 2 && !has_target) {
      const auto port = c.integer(i + 2);
      if (!port) return {};
      read.host = c[i + 1];
      read.port = *port;
      has_target = true;
      i += 2;
    } else if (c.is(i, "FORCE") && !read.is_forced) {
      read.is_forced = true;
    } else {
      c.fail_syntax();
      return {};
    }
  }
  return read;
}

void fail_over(call& c) {
  auto& with = *c.home().replicated_by();
  if (c.size() == 2 && c.is(1, "ABORT")) {
    if (with.abort_failover()) {
      c.reply.ok();
    } else {
      c.fail("ERR No failover in progress.");
    }
    return;
  }
  auto request = read_failover_options(c);
  if (!request) return;
  if (const auto wrong = with.begin_failover(std::move(*request)); !wrong.empty()) {
    c.fail("ERR " + wrong);
    return;
  }
  c.reply.ok();
}

void role(call& c) {
  const auto now = c.home().replicated_by()->figures();
  if (now.is_follower) {
    c.reply.array(5);
    c.reply.bulk("slave");
    c.reply.bulk(now.leader_host);
    c.reply.integer(now.leader_port);
    c.reply.bulk(now.link_state);
    c.reply.integer(now.link_state == "connected" ? static_cast<std::int64_t>(now.followed_offset)
                                                  : -1);
    return;
  }
  c.reply.array(3);
  c.reply.bulk("master");
  c.reply.integer(static_cast<std::int64_t>(now.offset));
  c.reply.array(now.followers.size());
  for (const auto& each : now.followers) {
    c.reply.array(3);
    c.reply.bulk(each.address);
    c.reply.bulk_integer(each.port);
    c.reply.bulk_integer(static_cast<std::int64_t>(each.acknowledged));
  }
}

void reply_followers(front& front, client& client) {
  const auto* const with = front.replicated_by();
  client.reply().integer(static_cast<std::int64_t>(
      with == nullptr ? 0 : with->count_followers(client.waits_for_offset)));
}

void wait(call& c) {
  const auto count = c.integer(1);
  const auto timeout =
      count ? c.integer(2, "ERR timeout is not an integer or out of range") : std::nullopt;
  if (!timeout) return;
  if (*timeout < 0) {
    c.fail("ERR timeout is negative");
    return;
  }
  auto& with = *c.home().replicated_by();
  const auto now = with.figures();
  if (now.is_follower) {
    c.fail(
        "ERR WAIT cannot be used with replica instances. Please also note that since Redis 4.0 "
        "if a replica is configured to be writable (which is not the default) writes to "
        "replicas are just local and are not propagated.");
    return;
  }
  const auto have = with.count_followers(now.offset);
  if (static_cast<std::int64_t>(have) >= *count || !c.may_block()) {
    c.reply.integer(static_cast<std::int64_t>(have));
    return;
  }
  c.who.waits_for_offset = now.offset;
  with.wait_for_followers(c.who, static_cast<std::size_t>(*count));
  with.ask_followers();
  std::optional<std::int64_t> deadline_ms;
  if (*timeout != 0) deadline_ms = c.now_ms() + *timeout;
  c.wait_for({}, deadline_ms, reply_followers);
}

// Reads the time at word `index`, in milliseconds, as a deadline; 0 means forever. Returns false
// after an error.
bool read_wait_time(call& c, std::size_t index, std::optional<std::int64_t>& deadline_ms) {
  const auto timeout = c.integer(index, "ERR timeout is not an integer or out of range");
  if (!timeout) return false;
  if (*timeout < 0) {
    c.fail("ERR timeout is negative");
    return false;
  }
  std::int64_t end_ms = 0;
  if (*timeout != 0 && !__builtin_add_overflow(c.now_ms(), *timeout, &end_ms)) {
    deadline_ms = end_ms;
  }
  return true;
}

void waitaof(call& c) {
  const auto local = c.integer(1);
  if (!local) return;
  if (*local < 0 || *local > 1) {
    c.fail("ERR value is out of range, value must between 0 and 1");
    return;
  }
  const auto followers = c.integer(2);
  if (!followers) return;
  if (*followers < 0) {
    c.fail("ERR value is out of range, must be positive");
    return;
  }
  std::optional<std::int64_t> deadline_ms;
  if (!read_wait_time(c, 3, deadline_ms)) return;
  auto& replication = *c.home().replicated_by();
  const auto figures = replication.figures();
  if (figures.is_follower) {
    c.fail(
        "ERR WAITAOF cannot be used with replica instances. Please also note that writes to "
        "replicas are just local and are not propagated.");
    return;
  }
  const auto log = c.home().persisted_by()->figures();
  if (*local != 0 && !log.has_log) {
    c.fail("ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled.");
    return;
  }
  const sync_waits::wait wait{.client_id = c.who.id,
                              .position = log.log_appended,
                              .offset = figures.offset,
                              .needs_log = *local != 0,
                              .followers = static_cast<std::size_t>(*followers)};
  const auto counts = sync_waits::count(c.home(), wait);
  if (sync_waits::is_over(wait, counts) || !c.may_block()) {
    sync_waits::reply(c.who, counts);
    return;
  }
  c.home().awaited_syncs().add(wait);
  if (*followers != 0) replication.ask_followers();
  c.wait_for({}, deadline_ms,
             [](front& front, client& client) { front.awaited_syncs().give_up(front, client); });
}

// clang-format off
const command_row replication_rows[] = {
    {"failover", -1, "admin noscript stale", {0, 0, 0},
     "", "admin dangerous", "6.2.0",
     "hands the leadership to a follower", fail_over},
    {"psync", -3, "admin noscript no_async_loading no_multi", {0, 0, 0},
     "", "admin dangerous", "2.8.0",
     "starts or resumes replication of this cache; for use between caches", psync},
    {"replconf", -1, "admin noscript loading stale allow_busy", {0, 0, 0},
     "", "admin dangerous", "3.0.0",
     "sets the replication properties of a follower; for use between caches", replconf},
    {"replicaof", 3, "admin noscript stale no_async_loading", {0, 0, 0},
     "", "admin dangerous", "5.0.0",
     "starts or stops following another cache", replicaof},
    {"role", 1, "noscript loading stale fast", {0, 0, 0},
     "", "admin dangerous", "2.8.12",
     "returns whether this cache is a leader or a follower", role},
    {"slaveof", 3, "admin noscript stale no_async_loading", {0, 0, 0},
     "", "admin dangerous", "1.0.0",
     "starts or stops following another cache", replicaof},
    {"sync", 1, "admin noscript no_async_loading no_multi", {0, 0, 0},
     "", "admin dangerous", "1.0.0",
     "returns a snapshot and all later changes", sync},
    {"wait", 3, "noscript", {0, 0, 0},
     "", "connection", "3.0.0",
     "waits until followers have acknowledged the changes so far", wait},
    {"waitaof", 4, "blocking", {0, 0, 0},
     "", "blocking connection", "7.2.0",
     "waits until the changes so far are synced to the logs of this cache and of followers",
     waitaof},
};
// clang-format on

}  // namespace

command_group replication_commands() { return {"server", replication_rows}; }

}  // namespace strata::runtime::cache
