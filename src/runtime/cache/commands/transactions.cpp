// Transactions.
#include <algorithm>
#include <utility>

#include "runtime/cache/commands/commands.hpp"
#include "runtime/cache/engine/call.hpp"

namespace strata::runtime::cache {

namespace {

void forget(call& c) {
  c.who.in_transaction = c.who.transaction_failed = c.who.watch_failed = false;
  c.who.queued.clear();
  c.home().watched().unwatch(c.who);
}

void multi(call& c) {
  if (c.who.in_transaction) {
    c.fail("ERR MULTI calls can not be nested");
    return;
  }
  c.who.in_transaction = true;
  c.reply.ok();
}

void discard(call& c) {
  if (!c.who.in_transaction) {
    c.fail("ERR DISCARD without MULTI");
    return;
  }
  forget(c);
  c.reply.ok();
}

// A watched key that has expired since counts as changed, unless it had already expired then.
bool has_watched_change(call& c) {
  if (c.who.watch_failed) return true;
  return std::ranges::any_of(c.who.watched, [&c](const watched_key& each) {
    const entry* const found = c.keys()[each.database].find(each.key, hash_of(each.key));
    return !each.was_expired && found != nullptr && found->has_expiry() &&
           found->expires_at_ms() <= c.now_ms();
  });
}

// Executes as a unit: no other client's commands come between, and the changes are propagated
// together.
void execute_queued(call& c) {
  const auto queued = std::exchange(c.who.queued, {});
  c.propagate_nothing();
  c.propagate_together();
  std::vector<std::string_view> words;
  for (const auto& each : queued) {
    words.assign(each.words.begin(), each.words.end());
    // The rules of the user may have changed since the command was queued.
    if (const auto denied =
            c.home().check_access(c.who, *each.what, words, acl_context::transaction)) {
      c.reply.error(denied->transaction_error());
      continue;
    }
    c.execute_inside(*each.what, words);
  }
}

void exec(call& c) {
  if (!c.who.in_transaction) {
    c.fail("ERR EXEC without MULTI");
    return;
  }
  if (c.who.transaction_failed) {
    forget(c);
    c.fail("EXECABORT Transaction discarded because of previous errors.");
    return;
  }
  if (has_watched_change(c)) {
    forget(c);
    c.reply.null_array();
    return;
  }
  c.home().watched().unwatch(c.who);
  c.who.in_transaction = false;
  c.reply.array(c.who.queued.size());
  execute_queued(c);
  forget(c);
}

void watch(call& c) {
  if (c.who.in_transaction) {
    c.fail("ERR WATCH inside MULTI is not allowed");
    return;
  }
  for (std::size_t i = 1; i < c.size(); ++i) {
    const entry* const found = c.data().find(c[i], c.hash(i));
    const bool is_over =
        found != nullptr && found->has_expiry() && found->expires_at_ms() <= c.now_ms();
    c.home().watched().watch(c.who, c.who.database, c[i], is_over);
  }
  c.reply.ok();
}

void unwatch(call& c) {
  c.home().watched().unwatch(c.who);
  c.who.watch_failed = false;
  c.reply.ok();
}

// clang-format off
const command_row transaction_rows[] = {
    {"discard", 1, "noscript loading stale fast allow_busy", {0, 0, 0},
     "", "transaction", "2.0.0",
     "discards the transaction", discard, {}, trait_ends_transaction},
    {"exec", 1, "noscript loading stale skip_slowlog", {0, 0, 0},
     "", "transaction", "1.2.0",
     "executes the transaction", exec, {}, trait_ends_transaction},
    {"multi", 1, "noscript loading stale fast allow_busy", {0, 0, 0},
     "", "transaction", "1.2.0",
     "begins a transaction", multi, {}, trait_ends_transaction},
    {"unwatch", 1, "noscript loading stale fast allow_busy", {0, 0, 0},
     "", "transaction", "2.2.0",
     "stops watching all keys", unwatch},
    {"watch", -2, "noscript loading stale fast allow_busy", {1, -1, 1},
     "RO 1 -1 1", "transaction", "2.2.0",
     "makes the next transaction fail if the given keys change before it", watch, {},
     trait_ends_transaction},
};
// clang-format on

}  // namespace

command_group transaction_commands() { return {"transactions", transaction_rows}; }

}  // namespace strata::runtime::cache
