// What people ask for, one operation on a runtime at a time.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include "daemon/supervisor/collisions.hpp"
#include "daemon/supervisor/supervisor.hpp"

namespace strata::daemon {

namespace {

const char* what_was_reloaded(const entry& entry, runtime::reload_outcome outcome) {
  if (outcome == runtime::reload_outcome::nothing_to_read) return "had no files to read again";
  return entry.body->certificates().empty() ? "opened its files again"
                                            : "read the certificates again";
}

// A request's start that another request, or the daemon's end, has put an end to.
std::unexpected<error> ended_while_starting(const entry& starting) {
  return failure(
      errc::conflict, "start '" + starting.name() + "'",
      fmt::format("it was {} while it was starting", starting.removed ? "removed" : "stopped"),
      "if that was not meant, ask for it again");
}

std::unexpected<error> has_no_operation(const entry& subject, const std::string& operation) {
  const auto* const known = runtime::find_shared_operation(operation);
  const auto asked = fmt::format("ask '{}' for '{}'", subject.name(), operation);
  if (known == nullptr) {
    return failure(errc::not_found, asked, "no type has an operation of that name",
                   "see GET /v1/types");
  }
  return failure(errc::not_supported, asked,
                 fmt::format("it is a {}, and only a {} has that operation", subject.type->name,
                             fmt::join(known->types, " or a ")),
                 "see which runtimes are: strata ls");
}

}  // namespace

result<entry_ref> supervisor::reserve(const std::string& type, const std::string& name,
                                      const nlohmann::json& options) {
  if (runtime::find_type(type) == nullptr) {
    return failure(errc::invalid_argument, "create a '" + type + "'",
                   "there is no such runtime type", "see 'strata create --help'");
  }
  if (!is_valid_name(name)) {
    return failure(errc::invalid_argument, "use the name '" + name + "'",
                   "a name has 1 to 64 letters, digits, '_', '.' and '-', and begins with neither "
                   "of the last two");
  }
  if (entries_.contains(name)) {
    return failure(errc::already_exists, "create '" + name + "'", "a runtime of that name exists",
                   "remove it or choose another name");
  }
  if (const auto kept = unusable_.find(name); kept != unusable_.end()) {
    return failure(
        errc::conflict, "create '" + name + "'",
        "the state folder has one of that name, which could not be restored: " +
            kept->second.reason,
        "choose another name, use the strata that made it, or remove it: strata rm " + name);
  }
  if (auto owned = check_owner(entries_, name, options); !owned) {
    return std::unexpected(owned.error());
  }
  auto made = make({.name = name,
                    .type = type,
                    .created_at = runtime::format_time(std::chrono::system_clock::now()),
                    .running = false,
                    .options = {}},
                   options);
  if (!made) return made;
  if (auto effective = (*made)->body->check_effects(options); !effective) {
    return std::unexpected(effective.error());
  }
  entries_[name] = *made;
  if (auto free = check_needs(entries_, told_, name, {}); !free) {
    entries_.erase(name);
    return std::unexpected(free.error());
  }
  return made;
}

loop::task<result<entry_ref>> supervisor::create(std::string type, std::string name,
                                                 nlohmann::json options, bool start,
                                                 bool is_rehearsal) {
  const under_way counted(*this);
  const auto reserved = reserve(type, name, options);
  if (!reserved) co_return reserved;
  const auto& made = *reserved;
  const auto guard = co_await made->lock.acquire();
  result<void> saved;
  if (is_rehearsal) {
    auto good = co_await made->body->rehearse();
    saved = std::move(good);
  } else {
    auto put = co_await save(made);
    saved = std::move(put);
  }
  if (is_rehearsal || !saved) {
    made->removed = true;
    entries_.erase(name);
    if (!saved) co_return std::unexpected(saved.error());
    co_return made;
  }
  made->is_saved = true;
  tell(*made, "created");
  if (!start) co_return made;
  auto started = co_await locked_start(made);
  // It would wait; but whoever creates it has most likely mistyped the name.
  if (const auto awaited = awaited_interface(*made); started && !awaited.empty()) {
    started = failure(errc::not_found, "listen or connect on '" + awaited + "'",
                      "there is no such interface",
                      "see: ip link; created without -s and started, it waits for one");
  }
  if (started) co_return started;
  // What is answered with an error leaves nothing behind.
  const auto gone = co_await locked_remove(made, home_.now());
  auto& why = started.error();
  if (gone)
    why.operation = "create '" + name + "', because it would not start: cannot " + why.operation;
  co_return started;
}

loop::task<result<entry_ref>> supervisor::locked_start(entry_ref entry, bool is_retry) {
  const auto operation = "start '" + entry->name() + "'";
  if (entry->removed) co_return not_found(entry->name());
  if (entry->ended) co_return failure(errc::conflict, operation, "the daemon is stopping");
  if (entry->state == run_state::running) co_return entry;
  const auto planned = ++entry->changes;
  entry->next_start.reset();
  auto started = check_frames_are_for_one(entries_, *entry);
  if (started) {
    auto tried = co_await start_with_edits(entry);
    started = std::move(tried);
    if (entry->removed) co_return ended_while_starting(*entry);
    // While edits were let through, others were too.
    if (entry->changes != planned && entry->state == run_state::running) co_return entry;
    if (entry->changes != planned || entry->ended) co_return ended_while_starting(*entry);
  }
  if (started) {
    entry->wanted.running = true;
    started = co_await save(entry);
    if (!started) co_await end_body(entry, loop::time_point::max());
  }
  entry->is_starting = false;
  if (!started) {
    auto failed = started.error();
    if (failed.code == errc::canceled) {
      failed = ended_while_starting(*entry).error();
    } else {
      explain_conflict(entries_, *entry, failed);
      failed.operation = operation + ": cannot " + failed.operation;
    }
    entry->state = run_state::failed;
    const auto before = std::exchange(entry->reason, describe(failed));
    entry->wanted.running = false;
    if (!is_retry || entry->reason != before) tell(*entry, "failed", entry->reason);
    co_return std::unexpected(failed);
  }
  entry->state = run_state::running;
  entry->reason.clear();
  entry->started = home_.now();
  std::string where;
  for (const auto& each : entry->body->endpoints()) where += (where.empty() ? "" : ", ") + each;
  tell(*entry, "started", where);
  co_return entry;
}

// An edit has a start give up what it waits for, such as a host that does not answer: it may be
// what the edit mends. Then the start is made with the options as edited.
loop::task<result<void>> supervisor::start_with_edits(entry_ref entry) {
  for (;;) {
    entry->is_starting = true;
    auto started = co_await entry->body->start();
    entry->is_starting = started.has_value();
    if (started || entry->edits == 0) co_return started;
    const auto planned = entry->changes;
    co_await entry->lock.let_others();
    if (entry->removed || entry->ended || entry->changes != planned) co_return started;
  }
}

loop::task<result<entry_ref>> supervisor::locked_restart(entry_ref entry, loop::time_point limit) {
  if (entry->state == run_state::running) {
    // What it is now serves better than nothing.
    auto good = co_await entry->body->rehearse();
    if (!good) {
      auto why = good.error();
      why.operation =
          "restart '" + entry->name() + "', which goes on as it is: cannot " + why.operation;
      co_return std::unexpected(why);
    }
    auto saved = co_await save_body(entry, "restart '" + entry->name() + "'", limit);
    if (!saved) co_return std::unexpected(saved.error());
    co_await end_body(entry, limit);
    entry->state = run_state::stopped;
    tell(*entry, "stopped", "to be started again");
  }
  co_return co_await locked_start(entry);
}

loop::task<result<entry_ref>> supervisor::start(std::string name) {
  const under_way counted(*this);
  auto who = find(name);
  if (!who) co_return who;
  const auto guard = co_await (*who)->lock.acquire();
  (*who)->restarts.succeeded();
  co_return co_await locked_start(*who);
}

loop::task<result<entry_ref>> supervisor::stop(std::string name, loop::time_point limit) {
  const under_way counted(*this);
  auto who = find(name);
  if (!who) co_return who;
  hurry_holder(*who, limit);
  const auto guard = co_await (*who)->lock.acquire();
  if ((*who)->removed) co_return not_found(name);
  const bool is_at_rest =
      (*who)->state == run_state::created || (*who)->state == run_state::stopped;
  if (is_at_rest && !(*who)->wanted.running) co_return *who;
  const auto stopped = co_await locked_stop(*who, limit);
  if (!stopped) co_return std::unexpected(stopped.error());
  co_return *who;
}

loop::task<result<entry_ref>> supervisor::restart(std::string name, loop::time_point limit) {
  const under_way counted(*this);
  auto who = find(name);
  if (!who) co_return who;
  const auto guard = co_await (*who)->lock.acquire();
  co_return co_await locked_restart(*who, limit);
}

loop::task<result<entry_ref>> supervisor::reload(std::string name) {
  const under_way counted(*this);
  auto who = find(name);
  if (!who) co_return who;
  const auto guard = co_await (*who)->lock.acquire();
  if ((*who)->removed) co_return not_found(name);
  if ((*who)->state != run_state::running) co_return who;
  auto done = co_await (*who)->body->reload();
  if (!done) {
    auto failed = done.error();
    failed.operation = "reload '" + name + "': cannot " + failed.operation;
    failed.reason += "; it goes on with what was read before";
    co_return std::unexpected(failed);
  }
  if (*done == runtime::reload_outcome::needs_restart)
    co_return co_await locked_restart(*who, loop::time_point::max());
  tell(**who, "reloaded", what_was_reloaded(**who, *done));
  co_return who;
}

loop::task<> supervisor::read_files_again() {
  const under_way counted(*this);
  for (const auto& each : all()) {
    const auto guard = co_await each->lock.acquire();
    if (each->removed || each->state != run_state::running) continue;
    const auto done = co_await each->body->reload();
    if (!done) each->log->write(runtime::level::error, describe(done.error()));
    if (done && *done == runtime::reload_outcome::files_read) {
      tell(*each, "reloaded", what_was_reloaded(*each, *done));
    }
  }
}

loop::task<result<void>> supervisor::remove(std::string name, loop::time_point limit) {
  const under_way counted(*this);
  if (unusable_.contains(name)) {
    auto gone = co_await store_->remove(name);
    if (gone) unusable_.erase(name);
    co_return gone;
  }
  auto who = find(name);
  if (!who) co_return std::unexpected(who.error());
  // A stop that waits need not: what it would save, the removal saves.
  hurry_holder(*who, home_.now());
  const auto guard = co_await (*who)->lock.acquire();
  // It went while this waited: with the create that was hurried, say.
  if ((*who)->removed) co_return result<void>{};
  co_return co_await locked_remove(*who, limit);
}

loop::task<result<runtime::edit_outcome>> supervisor::edit(std::string name,
                                                           nlohmann::json changes) {
  const under_way counted(*this);
  auto found = find(name);
  if (!found) co_return std::unexpected(found.error());
  const auto who = *found;
  ++who->edits;
  if (who->is_starting) who->body->hurry();
  const auto guard = co_await who->lock.acquire();
  --who->edits;
  if (who->removed) co_return not_found(name);
  if (auto owned = check_owner(entries_, name, changes); !owned) {
    co_return std::unexpected(owned.error());
  }
  if (auto effective = who->body->check_effects(changes); !effective) {
    co_return std::unexpected(effective.error());
  }
  const auto before = who->body->options(true);
  relatives related{who->body->common().owner, who->body->needs()};
  auto edited = who->body->edit(changes);
  if (!edited) co_return edited;
  auto saved = check_needs(entries_, told_, name, related.needs);
  if (saved) {
    who->before_edit = std::move(related);
    saved = co_await save(who);
    who->before_edit.reset();
  }
  if (!saved) {
    // What is not in the store must not be in force: a restart would forget it. What a runtime has
    // changed by itself meanwhile stays.
    auto undo = nlohmann::json::object();
    for (const auto& [key, value] : changes.items()) undo[key] = before.at(key);
    (void)who->body->edit(undo);
    co_await who->body->settle();
    co_return std::unexpected(saved.error());
  }
  std::string keys;
  for (const auto& [key, value] : changes.items()) keys += (keys.empty() ? "" : ", ") + key;
  co_await who->body->settle();
  if (!keys.empty()) tell(*who, "edited", keys);
  co_return edited;
}

loop::task<result<nlohmann::json>> supervisor::ask(std::string name, std::string operation,
                                                   runtime::operation_call call) {
  auto found = find(name);
  if (!found) co_return std::unexpected(found.error());
  const auto subject = *found;
  const auto* const row = runtime::find_operation(subject->type->operations(), operation);
  if (row == nullptr) co_return has_no_operation(*subject, operation);
  if (auto good = runtime::check_call(*row, call); !good) co_return std::unexpected(good.error());
  // What is done while it ends is waited for, as what is done to it is.
  std::optional<under_way> counted;
  std::optional<loop::async_lock::guard> turn;
  if (row->is_in_turn) {
    counted.emplace(*this);
    turn.emplace(co_await subject->lock.acquire());
  }
  if (subject->removed) co_return not_found(name);
  if (subject->state != run_state::running) {
    co_return failure(errc::conflict, fmt::format("ask '{}' for '{}'", name, operation),
                      fmt::format("it does not run: it is {}", name_of(subject->state)),
                      "start it: strata start " + name);
  }
  co_return co_await row->run(*subject->body, std::move(call));
}

}  // namespace strata::daemon
