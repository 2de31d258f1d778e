// The requests of users, one operation on a runtime at a time.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "daemon/supervisor/relations.hpp"
#include "daemon/supervisor/supervisor.hpp"

namespace strata::daemon {

namespace {

const char* what_was_reloaded(const entry& entry, runtime::reload_outcome outcome) {
  if (outcome == runtime::reload_outcome::nothing_to_read) return "had no files to reread";
  return entry.body->certificates().empty() ? "reopened its files" : "reread the certificates";
}

std::unexpected<error> has_no_operation(const entry& subject, const std::string& operation) {
  const auto* const known = runtime::find_shared_operation(operation);
  const auto asked = fmt::format("make '{}' run '{}'", subject.name(), operation);
  if (known == nullptr) {
    return failure(errc::not_found, asked, "no type has an operation of this name",
                   "see GET /v1/types");
  }
  return failure(errc::not_supported, asked,
                 fmt::format("it is a {}, but only a {} has this operation", subject.type->name,
                             fmt::join(known->types, " or a ")),
                 "list runtimes with: strata ls");
}

}  // namespace

result<entry_ref> supervisor::reserve(const creation& ordered) {
  const auto& name = ordered.name;
  if (runtime::find_type(ordered.type) == nullptr) {
    return failure(errc::invalid_argument, "create a '" + ordered.type + "'",
                   "no runtime type has this name", "see 'strata create --help'");
  }
  if (!is_valid_name(name)) {
    return failure(errc::invalid_argument, "use the name '" + name + "'",
                   "a name has 1 to 64 letters, digits, '_', '.' and '-', and does not start "
                   "with '.' or '-'");
  }
  if (list().entry_of(name)) {
    return failure(errc::already_exists, "create '" + name + "'", "a runtime of this name exists",
                   "remove it or choose another name");
  }
  const auto& unusable = list().unusable();
  if (const auto kept = unusable.find(name); kept != unusable.end()) {
    return failure(
        errc::conflict, "create '" + name + "'",
        "the state folder has a runtime of this name, which could not be restored: " +
            kept->second.reason,
        "choose another name, use the version that created it, or remove it: strata rm " + name);
  }
  if (auto owned = check_owner(entries(), name, ordered.options); !owned) {
    return std::unexpected(owned.error());
  }
  auto made =
      reconciler_.make_entry({.name = name,
                              .type = ordered.type,
                              .created_at = runtime::format_time(std::chrono::system_clock::now()),
                              .running = false,
                              .options = {},
                              .origin = ordered.origin},
                             ordered.options);
  if (!made) return made;
  if (auto effective = (*made)->body->check_effects(ordered.options); !effective) {
    return std::unexpected(effective.error());
  }
  // Added first, since its group counts too.
  reconciler_.list().add(*made);
  const auto free =
      check_needs(entries(), reconciler_.directory().given(), name, (*made)->body->needs(), {});
  if (free) return made;
  reconciler_.discard(**made);
  return std::unexpected(free.error());
}

loop::task<result<entry_ref>> supervisor::create(creation ordered) {
  const operation_count::member counted(reconciler_.operations());
  const auto reserved = reserve(ordered);
  if (!reserved) co_return reserved;
  const auto& made = *reserved;
  const auto guard = co_await made->lock.acquire();
  result<void> done;
  if (ordered.is_rehearsal) {
    if (ordered.is_started) {
      auto good = co_await made->body->rehearse();
      done = std::move(good);
    }
    reconciler_.discard(*made);
  } else {
    auto created = co_await reconciler_.create(made, ordered.is_started);
    done = std::move(created);
  }
  if (!done) co_return std::unexpected(done.error());
  co_return made;
}

loop::task<result<entry_ref>> supervisor::start(std::string name) {
  const operation_count::member counted(reconciler_.operations());
  auto who = find(name);
  if (!who) co_return who;
  const auto guard = co_await (*who)->lock.acquire();
  (*who)->restarts.succeeded();
  const auto started = co_await reconciler_.start(*who);
  if (!started) co_return std::unexpected(started.error());
  co_return who;
}

loop::task<result<entry_ref>> supervisor::stop(std::string name, loop::time_point limit) {
  const operation_count::member counted(reconciler_.operations());
  auto who = find(name);
  if (!who) co_return who;
  reconciler_.hurry_holder(*who, limit);
  const auto guard = co_await (*who)->lock.acquire();
  if ((*who)->removed) co_return not_found(name);
  const bool is_at_rest =
      (*who)->state == run_state::created || (*who)->state == run_state::stopped;
  if (is_at_rest && !(*who)->desired.running) co_return *who;
  const auto stopped = co_await reconciler_.stop(*who, limit);
  if (!stopped) co_return std::unexpected(stopped.error());
  co_return *who;
}

loop::task<result<entry_ref>> supervisor::restart(std::string name, loop::time_point limit) {
  const operation_count::member counted(reconciler_.operations());
  auto who = find(name);
  if (!who) co_return who;
  const auto guard = co_await (*who)->lock.acquire();
  const auto restarted = co_await reconciler_.restart(*who, limit);
  if (!restarted) co_return std::unexpected(restarted.error());
  co_return who;
}

loop::task<result<entry_ref>> supervisor::reload(std::string name) {
  const operation_count::member counted(reconciler_.operations());
  auto who = find(name);
  if (!who) co_return who;
  const auto guard = co_await (*who)->lock.acquire();
  if ((*who)->removed) co_return not_found(name);
  if ((*who)->state != run_state::running) co_return who;
  auto done = co_await (*who)->body->reload();
  if (!done) {
    auto failed = done.error();
    failed.operation = "reload '" + name + "': cannot " + failed.operation;
    failed.reason += "; it keeps what it read before";
    co_return std::unexpected(failed);
  }
  if (*done == runtime::reload_outcome::needs_restart) {
    const auto restarted = co_await reconciler_.restart(*who, loop::time_point::max());
    if (!restarted) co_return std::unexpected(restarted.error());
    co_return who;
  }
  reconciler_.report(**who, "reloaded", what_was_reloaded(**who, *done));
  co_return who;
}

loop::task<> supervisor::read_files_again() {
  const operation_count::member counted(reconciler_.operations());
  for (const auto& each : list().all()) {
    const auto guard = co_await each->lock.acquire();
    if (each->removed || each->state != run_state::running) continue;
    const auto done = co_await each->body->reload();
    if (!done) each->log->write(runtime::level::error, describe(done.error()));
    if (done && *done == runtime::reload_outcome::files_read) {
      reconciler_.report(*each, "reloaded", what_was_reloaded(*each, *done));
    }
  }
}

loop::task<result<void>> supervisor::remove(std::string name, loop::time_point limit) {
  const operation_count::member counted(reconciler_.operations());
  if (list().unusable().contains(name)) {
    auto gone = co_await reconciler_.remove_unusable(name);
    co_return gone;
  }
  auto who = find(name);
  if (!who) co_return std::unexpected(who.error());
  // A pending stop need not wait: the removal saves what it would save.
  reconciler_.hurry_holder(*who, home_.now());
  const auto guard = co_await (*who)->lock.acquire();
  // It was removed meanwhile: by the hurried create, for example.
  if ((*who)->removed) co_return result<void>{};
  auto removed = co_await reconciler_.remove(*who, limit);
  co_return removed;
}

loop::task<result<runtime::edit_outcome>> supervisor::edit(std::string name, nlohmann::json changes,
                                                           std::optional<std::uint64_t> expected) {
  const operation_count::member counted(reconciler_.operations());
  auto found = find(name);
  if (!found) co_return std::unexpected(found.error());
  const auto who = *found;
  ++who->edits;
  if (who->is_starting) who->body->hurry();
  const auto guard = co_await who->lock.acquire();
  --who->edits;
  if (who->removed) co_return not_found(name);
  if (expected && *expected != who->stored.revision) {
    co_return stale_revision(name, *expected, who->stored.revision);
  }
  if (auto owned = check_owner(entries(), name, changes); !owned) {
    co_return std::unexpected(owned.error());
  }
  if (auto effective = who->body->check_effects(changes); !effective) {
    co_return std::unexpected(effective.error());
  }
  auto edited = co_await reconciler_.change(who, std::move(changes));
  co_return edited;
}

/// The turn of an operation of a type on a runtime that runs.
struct supervisor::operation_turn {
  entry_ref subject;
  const runtime::operation_row* row;
  std::optional<operation_count::member> counted;
  std::optional<loop::async_lock::guard> guard;
};

loop::task<result<std::unique_ptr<supervisor::operation_turn>>> supervisor::take_turn(
    std::string name, std::string operation, const runtime::operation_call& call) {
  auto found = find(name);
  if (!found) co_return std::unexpected(found.error());
  const auto subject = *found;
  const auto* const row = runtime::find_operation(subject->type->operations(), operation);
  if (row == nullptr) co_return has_no_operation(*subject, operation);
  if (auto good = runtime::check_call(*row, call); !good) co_return std::unexpected(good.error());
  // An operation that takes its turn is counted, so that the daemon's end waits for it.
  auto turn = std::make_unique<operation_turn>(subject, row);
  if (row->is_in_turn) {
    turn->counted.emplace(reconciler_.operations());
    turn->guard.emplace(co_await subject->lock.acquire());
  }
  if (subject->removed) co_return not_found(name);
  if (subject->state != run_state::running) {
    co_return failure(errc::conflict, fmt::format("make '{}' run '{}'", name, operation),
                      fmt::format("it is not running: it is {}", name_of(subject->state)),
                      "start it: strata start " + name);
  }
  co_return turn;
}

loop::task<result<nlohmann::json>> supervisor::ask(std::string name, std::string operation,
                                                   runtime::operation_call call) {
  const auto turn = co_await take_turn(name, operation, call);
  if (!turn) co_return std::unexpected(turn.error());
  const auto& row = *(*turn)->row;
  if (row.run == nullptr) {
    co_return failure(errc::not_supported, fmt::format("make '{}' run '{}'", name, operation),
                      "it needs a WebSocket to its caller", "use the command line");
  }
  co_return co_await row.run(*(*turn)->subject->body, std::move(call));
}

loop::task<result<std::unique_ptr<runtime::session>>> supervisor::open_session(
    std::string name, std::string operation, runtime::operation_call call) {
  const auto turn = co_await take_turn(std::move(name), std::move(operation), call);
  if (!turn) co_return std::unexpected(turn.error());
  co_return co_await (*turn)->row->open(*(*turn)->subject->body, std::move(call));
}

}  // namespace strata::daemon
