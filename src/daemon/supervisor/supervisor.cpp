#include "daemon/supervisor/supervisor.hpp"

#include <spdlog/spdlog.h>

#include <cerrno>
#include <ranges>

#include "daemon/supervisor/log_output.hpp"
#include "daemon/supervisor/relations.hpp"

namespace strata::daemon {

namespace {

std::string text_of(const nlohmann::json& options) {
  return options.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

supervisor::supervisor(loop::loop& loop, runtime::loop_source& loops,
                       std::unique_ptr<record_store> store)
    : home_(loop), loops_(loops), store_(std::move(store)), idle_(loop) {}

result<entry_ref> supervisor::find(const std::string& name) const {
  const auto found = entries_.find(name);
  if (found != entries_.end() && found->second->is_saved) return found->second;
  const auto kept = unusable_.find(name);
  if (kept == unusable_.end()) return not_found(name, known_names());
  return failure(errc::conflict, "use '" + name + "'",
                 "it could not be restored: " + kept->second.reason,
                 "use the strata that made it, or remove it: strata rm " + name);
}

std::vector<entry_ref> supervisor::all() const {
  std::vector<entry_ref> saved;
  for (const auto& [name, each] : entries_) {
    if (each->is_saved) saved.push_back(each);
  }
  return saved;
}

std::vector<std::string> supervisor::known_names() const {
  std::vector<std::string> known;
  for (const auto& each : all()) known.push_back(each->name());
  for (const auto& [name, kept] : unusable_) known.push_back(name);
  return known;
}

std::vector<std::string> supervisor::children(const std::string& name) const {
  std::vector<std::string> names;
  for (const auto& each : all()) {
    if (each->body->common().owner == name) names.push_back(each->name());
  }
  return names;
}

void supervisor::write_event(const std::string& name, std::string_view type, std::string_view event,
                             const std::string& detail) {
  const nlohmann::json text = {
      {"event", event}, {"runtime", name}, {"type", type}, {"detail", detail}};
  events_.write(runtime::level::info, text_of(text), name);
}

void supervisor::tell(const entry& entry, std::string_view event, const std::string& detail) {
  write_event(entry.name(), entry.type->name, event, detail);
  const bool bad = event == "failed";
  entry.log->write(bad ? runtime::level::error : runtime::level::info,
                   std::string(event) + (detail.empty() ? "" : ": " + detail));
}

result<entry_ref> supervisor::make(record record, const nlohmann::json& options) {
  const auto name = record.name;
  auto made = std::make_shared<entry>();
  made->type = runtime::find_type(record.type);
  made->wanted = std::move(record);
  made->log = std::make_shared<runtime::journal>();
  made->log->set_copy(
      [logger = spdlog::default_logger()->clone(name)](const runtime::journal_line& line) {
        const auto* const separator = line.subject.empty() ? "" : ": ";
        logger->log(log_level(line.severity), "{}{}{}", line.subject, separator, line.text);
      });
  made->messages = std::make_shared<runtime::journal>(0);
  auto body = made->type->make(
      {.name = name,
       .home = home_,
       .loops = loops_,
       .names = *this,
       .binding = binding_,
       .log = made->log,
       .messages = made->messages,
       .tell = [this, name, type = made->type->name](
                   std::string_view event,
                   const std::string& detail) { write_event(name, type, event, detail); },
       .others = this},
      options);
  if (!body) return std::unexpected(body.error());
  made->body = std::move(*body);
  made->body->on_failure = [this, weak = std::weak_ptr(made)] {
    if (auto still = weak.lock()) endings_.spawn(end_failed(std::move(still)));
  };
  return made;
}

loop::task<result<void>> supervisor::save(entry_ref entry) {
  entry->wanted.options = text_of(entry->body->options(true));
  // What the store has already needs no writing, which a full disk would refuse.
  if (entry->stored == entry->wanted) co_return result<void>{};
  const auto next = entry->wanted;
  auto saved = co_await store_->put(next);
  entry->stored.reset();
  if (saved) entry->stored = next;
  co_return saved;
}

std::expected<entry_ref, std::string> supervisor::restore(record saved) {
  if (!saved.unusable.empty()) return std::unexpected(saved.unusable);
  if (runtime::find_type(saved.type) == nullptr) {
    return std::unexpected("there is no type '" + saved.type + "' in this build");
  }
  const auto options = nlohmann::json::parse(saved.options, nullptr, false);
  auto made = make(std::move(saved), options);
  if (!made) return std::unexpected(describe(made.error()));
  return *made;
}

loop::task<result<void>> supervisor::load() {
  const under_way counted(*this);
  const auto damaged = [](const std::string& text) { spdlog::error("{}", text); };
  auto found = co_await store_->load(damaged);
  if (!found) co_return std::unexpected(found.error());
  if (stopping_) co_return result<void>{};
  for (auto& saved : *found) {
    const auto name = saved.name;
    const auto type = saved.type;
    auto made = restore(std::move(saved));
    if (!made) {
      spdlog::error("cannot restore '{}', its file stays: {}", name, made.error());
      write_event(name, type, "unusable", made.error());
      unusable_[name] = {.type = type, .reason = made.error()};
      continue;
    }
    (*made)->is_saved = true;
    (*made)->stored = (*made)->wanted;
    (*made)->state = (*made)->wanted.running ? run_state::stopped : run_state::created;
    entries_[name] = *made;
  }
  co_return result<void>{};
}

loop::task<> supervisor::start_wanted() {
  const under_way counted(*this);
  // What others need comes before them, and types in their table's order, so that servers are there
  // when clients come; the rest side by side, so that one that takes long keeps no other waiting.
  loop::task_group waiting;
  for (const auto& together : by_needs(entries_)) {
    for (const auto& type : runtime::types()) {
      loop::task_group starting;
      for (const auto& each : together) {
        const bool is_its_turn = each->wanted.running && each->type == &type;
        if (is_its_turn) starting.spawn(start_again(each, waiting));
      }
      co_await starting.drained();
    }
  }
  co_await waiting.drained();
}

loop::task<> supervisor::start_again(entry_ref subject, loop::task_group& waiting) {
  const auto guard = co_await subject->lock.acquire();
  const auto started = co_await locked_start(subject);
  subject->wanted.running = true;  // also when it failed: the next daemon tries again
  if (started) co_return;
  if (started.error().sys_errno == EADDRINUSE) {
    waiting.spawn(await_port(subject));
  } else if (comes_back(*subject)) {
    endings_.spawn(come_back(subject));
  }
}

// A daemon that was killed may have left a port that the kernel has not let go of yet: what its
// io_uring was writing to a slow disk keeps all of its descriptors open.
loop::task<> supervisor::await_port(entry_ref subject) {
  for (int tries = 1; tries < 10 && !stopping_; ++tries) {
    const auto planned = subject->changes;
    subject->next_start = home_.now() + std::chrono::milliseconds(200);
    co_await home_.sleep(std::chrono::milliseconds(200));
    const auto guard = co_await subject->lock.acquire();
    if (subject->changes != planned || subject->removed) co_return;
    const auto started = co_await locked_start(subject, true);
    subject->wanted.running = true;
    if (started) co_return;
    if (started.error().sys_errno != EADDRINUSE) break;
  }
  if (comes_back(*subject)) endings_.spawn(come_back(subject));
}

loop::task<> supervisor::shut_down(loop::time_point limit) {
  stopping_ = true;
  for (const auto& [name, each] : entries_) {
    if (each->is_starting) each->body->hurry();
  }
  const auto is_idle = [this] { return operations_ == 0; };
  // An operation under way may add a runtime.
  do {
    auto ranks = by_needs(entries_);
    for (const auto& together : std::views::reverse(ranks)) {
      loop::task_group stopping;
      for (const auto& each : together) stopping.spawn(stop_for_now(each, limit));
      co_await stopping.drained();
    }
    (void)co_await idle_.wait(is_idle);
  } while (!unstopped().empty());
}

loop::task<> supervisor::stop_for_now(entry_ref entry, loop::time_point limit) {
  const auto guard = co_await entry->lock.acquire();
  if (entry->state == run_state::running) {
    // The daemon ends whatever cannot be saved.
    const auto saved = co_await save_body(entry, "save its data", limit);
    if (!saved) entry->log->write(runtime::level::error, describe(saved.error()));
    co_await end_body(entry, limit);
    entry->log->write(runtime::level::info, "stopped: the daemon ends");
  }
  entry->state = run_state::stopped;
  entry->ended = true;
}

void supervisor::hurry() {
  for (const auto& [name, each] : entries_) hurry(*each);
}

std::vector<std::string> supervisor::unstopped() const {
  std::vector<std::string> names;
  for (const auto& [name, each] : entries_) {
    if (!each->ended) names.push_back(name);
  }
  return names;
}

}  // namespace strata::daemon
