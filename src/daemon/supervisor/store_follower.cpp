#include "daemon/supervisor/store_follower.hpp"

#include <spdlog/spdlog.h>

#include <set>
#include <utility>

#include "daemon/supervisor/reconciler.hpp"

namespace strata::daemon {

namespace {

// Between attempts to read a store that fails.
constexpr double first_read_pause_s = 0.2;
constexpr double longest_read_pause_s = 10;

void log_damaged(const std::string& text) { spdlog::error("{}", text); }

/// The options that differ, with their values in `next`; null if `next` has the default.
nlohmann::json difference(const std::string& before, const std::string& next) {
  const auto old_options = nlohmann::json::parse(before, nullptr, false);
  const auto new_options = nlohmann::json::parse(next, nullptr, false);
  auto changes = nlohmann::json::object();
  if (!old_options.is_object() || !new_options.is_object()) return changes;
  for (const auto& [key, value] : new_options.items()) {
    if (!old_options.contains(key) || old_options[key] != value) changes[key] = value;
  }
  for (const auto& [key, value] : old_options.items()) {
    if (!new_options.contains(key)) changes[key] = nullptr;
  }
  return changes;
}

void take_over(entry& subject, record next) {
  subject.unapplied.update(difference(subject.desired.options, next.options));
  subject.attempted.reset();
  subject.stored = next;
  subject.desired = std::move(next);
}

}  // namespace

std::expected<entry_ref, std::string> store_follower::restore(record saved) {
  if (!saved.unusable.empty()) return std::unexpected(saved.unusable);
  if (runtime::find_type(saved.type) == nullptr) {
    return std::unexpected("this build has no type '" + saved.type + "'");
  }
  const auto options = nlohmann::json::parse(saved.options, nullptr, false);
  auto made = entries_.make_entry(std::move(saved), options);
  if (!made) return std::unexpected(describe(made.error()));
  (*made)->stored = (*made)->desired;
  (*made)->state = (*made)->desired.running ? run_state::stopped : run_state::created;
  return *made;
}

void store_follower::keep_unusable(const record& saved, const std::string& reason) {
  spdlog::error("cannot restore '{}', its record is kept: {}", saved.name, reason);
  entries_.report_unusable(saved, reason);
  entries_.list().add_unusable(saved.name,
                               {.type = saved.type, .reason = reason, .revision = saved.revision});
}

loop::task<result<void>> store_follower::load() {
  const operation_count::member counted(entries_.operations());
  auto found = co_await entries_.store().load(log_damaged);
  if (!found) co_return std::unexpected(found.error());
  if (entries_.is_ending()) co_return result<void>{};
  for (const auto& saved : found->records) {
    const auto made = restore(saved);
    if (made) {
      entries_.list().add(*made);
    } else {
      keep_unusable(saved, made.error());
    }
  }
  tasks_.spawn(follow(found->revision));
  co_return result<void>{};
}

loop::task<> store_follower::follow(std::uint64_t last) {
  net::backoff pauses(pause_seed_);
  while (!entries_.is_ending()) {
    const auto changes = co_await entries_.store().watch(last);
    if (entries_.is_ending()) co_return;
    if (changes) {
      if (changes->names.empty()) co_return;
      pauses.succeeded();
      last = changes->revision;
      const std::set<std::string> names(changes->names.begin(), changes->names.end());
      for (const auto& name : names) look_at(name);
      continue;
    }
    auto why = changes.error();
    if (why.code == errc::not_found) {
      const auto adopted = co_await adopt_all();
      if (adopted) {
        last = *adopted;
        continue;
      }
      why = adopted.error();
    }
    if (pauses.failures() == 0) spdlog::error("{}; retrying", describe(why));
    co_await home_.sleep(pauses.next(first_read_pause_s, longest_read_pause_s));
  }
}

loop::task<result<std::uint64_t>> store_follower::adopt_all() {
  const auto found = co_await entries_.store().load(log_damaged);
  if (!found) co_return std::unexpected(found.error());
  std::set<std::string> names;
  for (const auto& each : found->records) names.insert(each.name);
  for (const auto& each : entries_.list().known_names()) names.insert(each);
  for (const auto& name : names) look_at(name);
  co_return found->revision;
}

// A name that has no entry has no lock either: of two answers about it, the one that arrives last
// need not be the newer one. So there is one question at a time.
void store_follower::look_at(const std::string& name) {
  const auto [asked, is_first] = has_news_.try_emplace(name, false);
  asked->second = !is_first;
  if (is_first) tasks_.spawn(adopt(name));
}

loop::task<> store_follower::adopt(std::string name) {
  net::backoff pauses(pause_seed_);
  while (!entries_.is_ending()) {
    bool is_done = false;
    {
      const operation_count::member counted(entries_.operations());
      const auto subject = entries_.list().entry_of(name);
      std::optional<loop::async_lock::guard> turn;
      if (subject) turn.emplace(co_await subject->lock.acquire());
      auto found = co_await entries_.store().find(name);
      if (entries_.is_ending()) co_return;
      // Meanwhile the name may belong to another entry.
      if (entries_.list().entry_of(name) != subject) continue;
      if (found && subject) {
        const auto become_it = co_await become(subject, std::move(*found));
        is_done = become_it.has_value();
      } else if (found) {
        co_await enter(name, std::move(*found));
        is_done = true;
      }
    }
    const bool has_news = std::exchange(has_news_[name], false);
    if (is_done && !has_news) {
      has_news_.erase(name);
      co_return;
    }
    if (is_done) continue;
    co_await home_.sleep(pauses.next(first_read_pause_s, longest_read_pause_s));
  }
}

loop::task<result<void>> store_follower::become(entry_ref subject, std::optional<record> next) {
  if (!next && !subject->is_stored()) co_return result<void>{};
  const bool is_other = next && (!next->unusable.empty() || next->type != subject->desired.type);
  if (!next || is_other) {
    co_await entries_.drop(subject, home_.now());
    if (is_other) look_at(subject->name());
    co_return result<void>{};
  }
  // A write without an answer may have succeeded, and the steps after it may have failed.
  const bool is_behind = !subject->has_write_pending && !subject->desired.has_content_of(*next);
  const bool is_new = is_behind || next->revision != subject->stored.revision;
  if (is_new) {
    take_over(*subject, std::move(*next));
  } else {
    subject->attempted.reset();
  }
  const bool is_running = subject->state == run_state::running;
  if (!is_new && !is_running) co_return result<void>{};
  const manner conduct;
  const auto done = co_await entries_.reconcile(subject, conduct);
  if (done) co_return done;
  subject->log->write(runtime::level::error, describe(done.error()));
  // A start that fails is retried by its own rules.
  if (subject->desired.running) co_return result<void>{};
  co_return done;
}

loop::task<> store_follower::enter(std::string name, std::optional<record> saved) {
  const auto& unusable = entries_.list().unusable();
  const auto kept = unusable.find(name);
  if (kept != unusable.end()) {
    if (saved && saved->revision == kept->second.revision) co_return;
    entries_.list().erase_unusable(name);
  }
  if (!saved) co_return;
  const auto made = restore(*saved);
  if (!made) {
    keep_unusable(*saved, made.error());
    co_return;
  }
  const auto guard = co_await (*made)->lock.acquire();
  entries_.list().add(*made);
  entries_.report(**made, "created");
  const manner conduct;
  (void)co_await entries_.reconcile(*made, conduct);
}

}  // namespace strata::daemon
