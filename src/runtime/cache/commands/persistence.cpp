// Commands on the persistent data.
#include "runtime/cache/engine/persistence.hpp"

#include "runtime/cache/commands/commands.hpp"
#include "runtime/cache/engine/call.hpp"

namespace strata::runtime::cache {

namespace {

constexpr std::string_view no_persistence_error = "ERR this cache cannot write to disk";

persistence* find_persistence(call& c) {
  auto* const found = c.home().persisted_by();
  if (found == nullptr) c.fail(no_persistence_error);
  return found;
}

void save(call& c) {
  auto* const kept = find_persistence(c);
  if (kept == nullptr) return;
  if (auto refused = kept->save(false, &c.who)) {
    c.fail(*refused);
  } else {
    c.wait_for({}, {}, [](front&, client& client) { client.reply().null_array(); });
  }
}

void bgsave(call& c) {
  const bool later = c.size() == 2 && c.is(1, "SCHEDULE");
  if (c.size() > 2 || (c.size() == 2 && !later)) {
    c.fail_syntax();
    return;
  }
  auto* const kept = find_persistence(c);
  if (kept == nullptr) return;
  const bool busy = kept->figures().is_rewriting;
  if (auto refused = kept->save(later, nullptr)) {
    c.fail(*refused);
  } else {
    c.reply.status(busy ? "Background saving scheduled" : "Background saving started");
  }
}

void bgrewriteaof(call& c) {
  auto* const kept = find_persistence(c);
  if (kept == nullptr) return;
  const auto said = kept->rewrite();
  if (said.starts_with("ERR ")) {
    c.fail(said);
  } else {
    c.reply.status(said);
  }
}

void lastsave(call& c) {
  if (const auto* const kept = find_persistence(c)) c.reply.integer(kept->figures().last_save_s);
}

// NOW makes no difference: the shutdown does not wait for followers.
void shutdown(call& c) {
  std::optional<bool> saves;
  bool is_forced = false;
  for (std::size_t i = 1; i < c.size(); ++i) {
    if (c.is(i, "SAVE") && saves != false) {
      saves = true;
    } else if (c.is(i, "NOSAVE") && saves != true) {
      saves = false;
    } else if (c.is(i, "ABORT") && c.size() == 2) {
      c.fail("ERR No shutdown in progress.");
      return;
    } else if (c.is(i, "FORCE")) {
      is_forced = true;
    } else if (!c.is(i, "NOW")) {
      c.fail_syntax();
      return;
    }
  }
  const auto& interrupted = c.home().interrupted();
  if (interrupted.is_on() && saves != false) {
    c.fail(interrupted.refusal());
    return;
  }
  auto* const kept = find_persistence(c);
  if (kept == nullptr) return;
  // Success has no reply: the connection ends.
  if (auto refused = kept->shut_down(saves, is_forced, c.who)) {
    c.fail(*refused);
  } else {
    c.wait_for({}, {}, [](front&, client&) {});
  }
}

// clang-format off
const command_row persistence_rows[] = {
    {"bgrewriteaof", 1, "admin noscript no_async_loading", {0, 0, 0},
     "", "admin dangerous", "1.0.0",
     "rewrites the append-only log in the background", bgrewriteaof},
    {"bgsave", -1, "admin noscript no_async_loading", {0, 0, 0},
     "", "admin dangerous", "1.0.0",
     "writes a snapshot in the background", bgsave},
    {"lastsave", 1, "loading stale fast", {0, 0, 0},
     "", "admin dangerous", "1.0.0",
     "returns the Unix time of the last snapshot", lastsave},
    {"save", 1, "admin noscript no_async_loading no_multi", {0, 0, 0},
     "", "admin dangerous", "1.0.0",
     "writes a snapshot and waits until it is complete", save},
    {"shutdown", -1, "admin noscript loading stale no_multi allow_busy", {0, 0, 0},
     "", "admin dangerous", "1.0.0",
     "stops the cache", shutdown},
};
// clang-format on

}  // namespace

command_group persistence_commands() { return {"server", persistence_rows}; }

}  // namespace strata::runtime::cache
