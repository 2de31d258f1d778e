#include "daemon/registry.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <ranges>
#include <set>

#include "net/scheme.hpp"

namespace strata::daemon {

namespace {

std::unexpected<error> not_found(const std::string& name) {
  return failure(errc::not_found, "find runtime '" + name + "'", "there is none of that name",
                 "see 'strata ls'");
}

// Files that a runtime has for itself.
std::vector<std::string> written_files(const runtime::runtime& of) {
  std::vector<std::string> paths;
  const auto options = of.options(false);
  for (const auto* const key : {"write", "persistent", "snapshot"}) {
    const auto path = options.value(key, std::string());
    if (!path.empty()) paths.push_back(path);
  }
  return paths;
}

spdlog::level::level_enum log_level(runtime::level severity) {
  switch (severity) {
    case runtime::level::info: return spdlog::level::info;
    case runtime::level::warning: return spdlog::level::warn;
    case runtime::level::error: return spdlog::level::err;
  }
  return spdlog::level::info;
}

}  // namespace

std::string_view name_of(run_state state) {
  switch (state) {
    case run_state::created: return "created";
    case run_state::running: return "running";
    case run_state::stopped: return "stopped";
    case run_state::failed: return "failed";
  }
  return "created";
}

registry::registry(loop::loop& home, runtime::loop_source& loops, state_store store)
    : home_(home), loops_(loops), store_(std::move(store)) {}

result<entry_ref> registry::find(const std::string& name) const {
  const auto found = entries_.find(name);
  if (found == entries_.end()) return not_found(name);
  return found->second;
}

std::vector<std::string> registry::children(const std::string& name) const {
  std::vector<std::string> names;
  for (const auto& [child, each] : entries_) {
    if (each->body->common().owner == name) names.push_back(child);
  }
  return names;
}

void registry::tell(const entry& about, std::string_view event, const std::string& detail) {
  const nlohmann::json text = {
      {"event", event}, {"runtime", about.name}, {"type", about.type->name}, {"detail", detail}};
  events_.write(runtime::level::info,
                text.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace), about.name);
  const bool bad = event == "failed";
  about.log->write(bad ? runtime::level::error : runtime::level::info,
                   std::string(event) + (detail.empty() ? "" : ": " + detail));
}

result<entry_ref> registry::make(const runtime::type_row& type, const std::string& name,
                                 const nlohmann::json& options) {
  auto made = std::make_shared<entry>();
  made->name = name;
  made->type = &type;
  made->created_at = runtime::format_time(std::chrono::system_clock::now());
  made->log = std::make_shared<runtime::journal>();
  made->log->set_copy([name](const runtime::journal_line& line) {
    spdlog::log(log_level(line.severity), "{}{}: {}", name, line.subject, line.text);
  });
  made->messages = std::make_shared<runtime::journal>(0);
  auto body = type.make({.name = name,
                         .home = home_,
                         .loops = loops_,
                         .names = *this,
                         .binding = binding_,
                         .log = made->log,
                         .messages = made->messages},
                        options);
  if (!body) return std::unexpected(body.error());
  made->body = std::move(*body);
  made->body->on_failure = [this, weak = std::weak_ptr(made)] {
    if (auto still = weak.lock()) endings_.spawn(end_failed(std::move(still)));
  };
  return made;
}

result<void> registry::save(const entry& what) const {
  return store_.save({.name = what.name,
                      .type = std::string(what.type->name),
                      .created_at = what.created_at,
                      .running = what.wanted,
                      .options = what.body->options(true).dump(
                          -1, ' ', false, nlohmann::json::error_handler_t::replace)});
}

result<void> registry::check_owner(const std::string& name, const nlohmann::json& options) const {
  const auto found = options.find("owner");
  if (found == options.end() || !found->is_string() || found->get<std::string>().empty()) {
    return {};
  }
  const std::string owner = *found;
  const std::string operation = "make '" + owner + "' the owner of '" + name + "'";
  std::set<std::string> seen = {name};
  for (std::string up = owner; !up.empty();) {
    if (!seen.insert(up).second) {
      return failure(errc::conflict, operation, "it would be its own owner, by way of '" + up + "'",
                     "choose another owner");
    }
    const auto next = entries_.find(up);
    if (next == entries_.end()) {
      return up == owner ? failure(errc::not_found, operation, "there is no runtime of that name",
                                   "create it first")
                         : result<void>{};
    }
    up = next->second->body->common().owner;
  }
  return {};
}

loop::task<> registry::restore() {
  const auto damaged = [](const std::string& text) { spdlog::error("{}", text); };
  for (const auto& saved : store_.load(damaged)) {
    const auto* const type = runtime::find_type(saved.type);
    if (type == nullptr) {
      spdlog::error("cannot restore '{}': there is no type '{}' in this build; its file stays",
                    saved.name, saved.type);
      continue;
    }
    auto made = make(*type, saved.name, nlohmann::json::parse(saved.options, nullptr, false));
    if (!made) {
      spdlog::error("cannot restore '{}', its file stays: {}", saved.name, describe(made.error()));
      continue;
    }
    (*made)->created_at = saved.created_at;
    (*made)->wanted = saved.running;
    (*made)->state = saved.running ? run_state::stopped : run_state::created;
    entries_[saved.name] = *made;
  }
  // What others need comes before them, and types in their table's order, so that servers are there
  // when clients come; the rest side by side, so that one that takes long keeps no other waiting.
  for (const auto& together : by_needs()) {
    for (const auto& type : runtime::types()) {
      loop::task_group starting;
      for (const auto& each : together) {
        if (each->wanted && each->type == &type) starting.spawn(start_again(each));
      }
      co_await starting.drained();
    }
  }
}

loop::task<> registry::start_again(entry_ref who) {
  const auto guard = co_await who->lock.acquire();
  // A daemon that was killed may have left a port that the kernel has not let go of yet: what its
  // io_uring was writing to a slow disk keeps all of its descriptors open.
  for (int tries = 0; tries < 10 && !stopping_; ++tries) {
    const auto started = co_await locked_start(who);
    if (started || started.error().sys_errno != EADDRINUSE) break;
    co_await home_.sleep(std::chrono::milliseconds(200));
  }
  who->wanted = true;  // also when it failed: the next daemon tries again
}

loop::task<> registry::shut_down(loop::time_point limit) {
  stopping_ = true;
  auto ranks = by_needs();
  for (const auto& together : std::views::reverse(ranks)) {
    loop::task_group stopping;
    for (const auto& each : together) stopping.spawn(stop_for_now(each, limit));
    co_await stopping.drained();
  }
}

loop::task<> registry::stop_for_now(entry_ref who, loop::time_point limit) {
  const auto guard = co_await who->lock.acquire();
  if (who->state == run_state::running) {
    co_await who->body->stop(limit);
    who->log->write(runtime::level::info, "stopped: the daemon ends");
  }
  who->state = run_state::stopped;
  who->ended = true;
}

std::vector<std::string> registry::unstopped() const {
  std::vector<std::string> names;
  for (const auto& [name, each] : entries_) {
    if (!each->ended) names.push_back(name);
  }
  return names;
}

loop::task<result<entry_ref>> registry::create(std::string type, std::string name,
                                               nlohmann::json options, bool start) {
  const auto* const row = runtime::find_type(type);
  if (row == nullptr) {
    co_return failure(errc::invalid_argument, "create a '" + type + "'",
                      "there is no such runtime type", "see 'strata create --help'");
  }
  if (!is_valid_name(name)) {
    co_return failure(errc::invalid_argument, "use the name '" + name + "'",
                      "a name has 1 to 64 letters, digits, '_', '.' and '-'");
  }
  if (entries_.contains(name)) {
    co_return failure(errc::already_exists, "create '" + name + "'",
                      "a runtime of that name exists", "remove it or choose another name");
  }
  if (auto owned = check_owner(name, options); !owned) co_return std::unexpected(owned.error());
  auto made = make(*row, name, options);
  if (!made) co_return made;
  if (auto free = check_needs(name, *(*made)->body); !free) co_return std::unexpected(free.error());
  if (auto saved = save(**made); !saved) co_return std::unexpected(saved.error());
  entries_[name] = *made;
  tell(**made, "created");
  if (!start) co_return made;
  const auto guard = co_await (*made)->lock.acquire();
  co_return co_await locked_start(*made);
}

loop::task<result<entry_ref>> registry::locked_start(entry_ref who) {
  if (who->removed) co_return not_found(who->name);
  if (who->state == run_state::running) {
    co_return failure(errc::conflict, "start '" + who->name + "'", "it runs already");
  }
  auto started = check_frames_are_for_one(*who);
  if (started) started = co_await who->body->start();
  if (started) {
    who->wanted = true;
    started = save(*who);
    if (!started) co_await who->body->stop();
  }
  if (!started) {
    auto failed = started.error();
    explain_conflict(*who, failed);
    failed.operation = "start '" + who->name + "': cannot " + failed.operation;
    who->state = run_state::failed;
    who->reason = describe(failed);
    who->wanted = false;
    tell(*who, "failed", who->reason);
    co_return std::unexpected(failed);
  }
  who->state = run_state::running;
  who->reason.clear();
  who->started = home_.now();
  std::string where;
  for (const auto& each : who->body->endpoints()) where += (where.empty() ? "" : ", ") + each;
  tell(*who, "started", where);
  co_return who;
}

std::optional<registry::collision> registry::find_collision(const entry& newcomer) const {
  if (!newcomer.body->listens()) return {};
  for (const auto& [name, each] : entries_) {
    const bool is_other = each.get() != &newcomer && each->state == run_state::running;
    if (!is_other || !each->body->listens()) continue;
    for (const auto& theirs : each->body->endpoints()) {
      for (const auto& ours : newcomer.body->endpoints()) {
        const auto a = net::parse_endpoint(theirs);
        const auto b = net::parse_endpoint(ours);
        if (!a || !b || !net::collide(*a, *b)) continue;
        return collision{name, theirs, ours, a->scheme->form == net::url_form::interface};
      }
    }
  }
  return {};
}

// Of a queue of AF_XDP the kernel refuses a second socket; of an interface it gives each its
// copies.
result<void> registry::check_frames_are_for_one(const entry& newcomer) const {
  const auto found = find_collision(newcomer);
  if (!found || !found->is_of_frames) return {};
  return failure(errc::conflict, "listen on " + found->ours,
                 "runtime '" + found->holder + "' listens on " + found->theirs +
                     ", and both would hear every frame",
                 "stop that one, or use another EtherType or VLAN");
}

void registry::explain_conflict(const entry& loser, error& failed) const {
  if (failed.code == errc::conflict && failed.sys_errno == 0) explain_file_conflict(loser, failed);
  if (failed.sys_errno != EADDRINUSE) return;
  if (const auto found = find_collision(loser)) {
    failed.reason = "runtime '" + found->holder + "' listens on " + found->theirs;
    failed.remedy = "stop that one or choose another port";
    return;
  }
  if (failed.remedy.empty()) {
    failed.remedy = "another program listens there: stop it or choose another port";
  }
}

void registry::explain_file_conflict(const entry& loser, error& failed) const {
  const auto ours = written_files(*loser.body);
  for (const auto& [name, each] : entries_) {
    if (each.get() == &loser || each->state != run_state::running) continue;
    for (const auto& theirs : written_files(*each->body)) {
      const bool is_shared = std::ranges::any_of(ours, [&](const std::string& path) {
        std::error_code missing;
        return path == theirs || std::filesystem::equivalent(path, theirs, missing);
      });
      if (is_shared) failed.reason = "runtime '" + name + "' writes it";
    }
  }
}

loop::task<result<void>> registry::locked_stop(entry_ref who) {
  // Asked first: those that need it may end when it does.
  std::string needed;
  for (const auto& each : running_that_need(who->name)) {
    needed += (needed.empty() ? "needed by " : ", ") + each;
  }
  if (who->state == run_state::running) co_await who->body->stop();
  who->state = run_state::stopped;
  who->reason.clear();
  who->wanted = false;
  tell(*who, "stopped", needed);
  auto saved = save(*who);
  co_await end_children(who->name);
  co_return saved;
}

loop::task<> registry::end_children(std::string name) {
  for (const auto& child : children(name)) {
    const auto found = entries_.find(child);
    if (found == entries_.end()) continue;
    const auto each = found->second;
    const auto guard = co_await each->lock.acquire();
    if (each->removed) continue;
    if (each->body->common().on_parent_stop == "remove") {
      (void)co_await locked_remove(each);
    } else if (each->state == run_state::running) {
      (void)co_await locked_stop(each);
    }
  }
}

loop::task<result<void>> registry::locked_remove(entry_ref who) {
  if (who->removed) co_return not_found(who->name);
  if (auto gone = store_.remove(who->name); !gone) co_return gone;
  if (who->state == run_state::running) co_await who->body->stop();
  who->state = run_state::stopped;
  who->removed = true;
  entries_.erase(who->name);
  tell(*who, "removed");
  who->log->end();
  who->messages->end();
  co_await end_children(who->name);
  for (const auto& child : children(who->name)) {
    const auto& orphan = entries_.at(child);
    (void)orphan->body->edit({{"owner", ""}});
    if (auto saved = save(*orphan); !saved) spdlog::error("{}", describe(saved.error()));
  }
  co_return result<void>{};
}

// A runtime ended by itself: what is left of it is cleared up, and the reason kept.
loop::task<> registry::end_failed(entry_ref who) {
  const auto guard = co_await who->lock.acquire();
  if (who->removed || who->state != run_state::running) co_return;
  // Started again while this waited for the lock: the end was that of the run before.
  if (who->body->failure_reason().empty()) co_return;
  co_await who->body->stop();
  who->state = run_state::failed;
  who->reason = who->body->failure_reason();
  tell(*who, "failed", who->reason);
  co_await end_children(who->name);
}

loop::task<result<entry_ref>> registry::start(std::string name) {
  auto who = find(name);
  if (!who) co_return who;
  const auto guard = co_await (*who)->lock.acquire();
  co_return co_await locked_start(*who);
}

loop::task<result<entry_ref>> registry::stop(std::string name) {
  auto who = find(name);
  if (!who) co_return who;
  const auto guard = co_await (*who)->lock.acquire();
  if ((*who)->removed) co_return not_found(name);
  if ((*who)->state != run_state::running) {
    co_return failure(errc::conflict, "stop '" + name + "'",
                      "it does not run: it is " + std::string(name_of((*who)->state)));
  }
  if (auto stopped = co_await locked_stop(*who); !stopped) {
    co_return std::unexpected(stopped.error());
  }
  co_return *who;
}

loop::task<result<entry_ref>> registry::restart(std::string name) {
  auto who = find(name);
  if (!who) co_return who;
  const auto guard = co_await (*who)->lock.acquire();
  if ((*who)->state == run_state::running) {
    co_await (*who)->body->stop();
    (*who)->state = run_state::stopped;
    tell(**who, "stopped", "to be started again");
  }
  co_return co_await locked_start(*who);
}

loop::task<result<entry_ref>> registry::reload(std::string name) {
  auto who = find(name);
  if (who && (*who)->state == run_state::running) co_return co_await restart(name);
  co_return who;
}

loop::task<result<void>> registry::remove(std::string name) {
  auto who = find(name);
  if (!who) co_return std::unexpected(who.error());
  const auto guard = co_await (*who)->lock.acquire();
  co_return co_await locked_remove(*who);
}

loop::task<result<runtime::edit_outcome>> registry::edit(std::string name, nlohmann::json changes) {
  auto who = find(name);
  if (!who) co_return std::unexpected(who.error());
  const auto guard = co_await (*who)->lock.acquire();
  if ((*who)->removed) co_return not_found(name);
  if (auto owned = check_owner(name, changes); !owned) co_return std::unexpected(owned.error());
  const auto before = (*who)->body->options(true);
  auto edited = (*who)->body->edit(changes);
  if (!edited) co_return edited;
  auto saved = check_needs(name, *(*who)->body);
  if (saved) saved = save(**who);
  if (!saved) {
    // What is not on disk must not be in force: a restart would forget it.
    (void)(*who)->body->edit(before);
    co_return std::unexpected(saved.error());
  }
  std::string keys;
  for (const auto& [key, value] : changes.items()) keys += (keys.empty() ? "" : ", ") + key;
  tell(**who, "edited", keys);
  co_return edited;
}

loop::task<result<runtime::send_outcome>> registry::send(std::string name,
                                                         std::string message) const {
  auto who = find(name);
  if (!who) co_return std::unexpected(who.error());
  const auto guard = co_await (*who)->lock.acquire();
  if ((*who)->state != run_state::running) {
    co_return failure(errc::conflict, "send through '" + name + "'",
                      "it does not run: it is " + std::string(name_of((*who)->state)),
                      "start it: strata start " + name);
  }
  co_return co_await (*who)->body->send(std::move(message));
}

}  // namespace strata::daemon
