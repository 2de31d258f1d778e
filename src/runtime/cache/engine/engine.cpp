#include "runtime/cache/engine/engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "runtime/cache/engine/call.hpp"
#include "runtime/cache/engine/change_guard.hpp"
#include "runtime/cache/engine/replicator.hpp"
#include "text/word.hpp"

namespace strata::runtime::cache {

namespace {

std::int64_t clock_us() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

std::string unknown_command(std::span<const std::string_view> words) {
  constexpr std::size_t most = 128;
  std::string arguments;
  for (const auto& each : words.subspan(1)) {
    if (arguments.size() >= most) break;
    arguments += fmt::format("'{}' ", each.substr(0, most - arguments.size()));
  }
  return fmt::format("ERR unknown command '{}', with args beginning with: {}",
                     words[0].substr(0, most), arguments);
}

std::uint64_t hash_of_key(const command& what, std::span<const std::string_view> words) {
  const auto first = what.first_key;
  return first != 0 && first < words.size() ? hash_of(words[first]) : 0;
}

// Commands that take as long as they take only because of their words need no clock.
bool needs_clock(const parameters& settings, const command& what) {
  constexpr std::int64_t close_look_us = 1000;
  if (settings.latency_threshold_ms > 0 || settings.latency_tracking) return true;
  if (settings.slow_log_us < 0) return false;
  return settings.slow_log_us < close_look_us || !what.has(flag_fast);
}

}  // namespace

engine::engine()
    : databases_(database_count),
      command_counters_(all_commands().size()),
      random_(std::random_device{}()),
      expiry_cursors_(database_count) {}

void engine::configure(parameters changed) {
  const auto options = changed_options(parameters_.options, changed.options);
  parameters_ = std::move(changed);
  if (on_configured_) on_configured_(options);
}

void engine::set_time(std::int64_t now_ms) {
  if (started_ms_ == 0) started_ms_ = now_ms;
  now_ms_ = now_ms;
  access_clock_ = static_cast<std::uint32_t>(now_ms / 1000);
}

void engine::enter(client& arrived) {
  arrived.id = next_client_++;
  arrived.since_ms = arrived.last_command_ms = now_ms_;
  arrived.is_trusted = parameters_.options.password.empty();
  clients_.push_back(&arrived);
  ++counters_.connections;
}

void engine::leave(client& gone) {
  blocked_.remove(gone);
  watched_.unwatch(gone);
  if (gone.is_follower) replicator_->forget(gone);
  pubsub_.leave(gone);
  tracking_.leave(gone);
  pause_.leave(gone);
  std::erase(clients_, &gone);
}

void engine::execute(client& who, std::span<const std::string_view> words) {
  const auto* const what = find_command(words[0]);
  execute(who, words, what, what == nullptr ? 0 : hash_of_key(*what, words));
}

void engine::execute(client& who, std::span<const std::string_view> words, const command* what,
                     std::uint64_t hash) {
  ++counters_.commands;
  ++who.calls;
  who.last_command_ms = now_ms_;
  if (!takes_fast_path(who, words.size(), what)) {
    const auto* const container = what;
    what = accept(who, words, what);
    // A subcommand has its key elsewhere.
    if (what != nullptr && what != container) hash = hash_of_key(*what, words);
  }
  if (what == nullptr) {
    ++counters_.errors;
    if (who.in_transaction) who.transaction_failed = true;
    return;
  }
  if (pause_.is_on() && postpone(who, *what)) return;
  who.last_command = what;
  if (who.in_transaction && !what->has(trait_ends_transaction)) {
    who.queued.emplace_back(what, words);
    who.reply().status("QUEUED");
    return;
  }
  const bool is_tracked = !tracking_.empty();
  if (is_tracked) tracking_.begin(who);
  run(who, words, *what, hash);
  if (blocked_.has_ready() && !is_serving_) serve_waiting();
  if (is_tracked) tracking_.end(*what);
}

// Whether the command has to wait for a pause's end; who sent it will send it again.
bool engine::postpone(client& who, const command& what) {
  if (pause_.is_over(now_ms_)) {
    pause_.end();
    return false;
  }
  if (!pause_.holds(who, what)) return false;
  --counters_.commands;
  --who.calls;
  pause_.postpone(who);
  return true;
}

// An EXEC that is refused ends its transaction, and says so.
void engine::refuse(client& who, const command& what, std::string text) {
  if (what.row->name == "exec") {
    text = "EXECABORT Transaction discarded because of: " + text.substr(text.find(' ') + 1);
    who.in_transaction = who.transaction_failed = who.watch_failed = false;
    who.queued.clear();
    watched_.unwatch(who);
  }
  who.reply().error(text);
}

// What a command must pass before it runs. Null when it did not, and was told so.
const command* engine::accept(client& who, std::span<const std::string_view> words,
                              const command* what) {
  auto& reply = who.reply();
  if (what != nullptr && !what->row->subcommands.empty() && words.size() > 1) {
    const auto* const container = what;
    what = find_subcommand(*container, words[1]);
    if (what == nullptr) {
      reply.error(fmt::format("ERR unknown subcommand '{}'. Try {} HELP.", words[1].substr(0, 128),
                              text::in_capitals(container->row->name)));
      return nullptr;
    }
  }
  if (what == nullptr) {
    reply.error(unknown_command(words));
    return nullptr;
  }
  if (!what->takes(words.size()) || what->run == nullptr) {
    refuse(who, *what,
           fmt::format("ERR wrong number of arguments for '{}' command", what->full_name()));
    return nullptr;
  }
  if (!who.is_trusted && !what->has(flag_no_auth)) {
    reply.error("NOAUTH Authentication required.");
    return nullptr;
  }
  if (const auto denied = denial(parameters_.access, *what); denied && !who.is_replay) {
    refuse(who, *what, *denied);
    return nullptr;
  }
  if (who.in_transaction && what->has(flag_no_multi)) {
    reply.error("ERR Command not allowed inside a transaction");
    return nullptr;
  }
  if (const auto why = reason_to_refuse(who, *what); !why.empty()) {
    refuse(who, *what, std::string(why));
    return nullptr;
  }
  if (who.is_subscribed() && !reply.is_resp3() && !what->has(trait_for_subscribers)) {
    reply.error(fmt::format(
        "ERR Can't execute '{}': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are "
        "allowed in this context",
        what->full_name()));
    return nullptr;
  }
  return what;
}

// A replayed command is never refused: it was accepted where it was first executed.
std::string_view engine::reason_to_refuse(const client& who, const command& what) {
  if (who.is_replay) return {};
  if (is_restricted_) {
    if (is_loading_ && !what.has(flag_loading)) {
      return "LOADING Redis is loading the dataset in memory";
    }
    if (what.has(flag_write)) {
      const auto* const found =
          std::ranges::find_if(refusals_, [](const std::string& each) { return !each.empty(); });
      if (found != refusals_.end()) return *found;
    }
  }
  if (parameters_.maxmemory > 0 && !make_room(what)) {
    return "OOM command not allowed when used memory > 'maxmemory'.";
  }
  return {};
}

void engine::refuse_changes(obstacle because, std::string error) {
  refusals_[static_cast<std::size_t>(because)] = std::move(error);
  set_loading(is_loading_);
}

void engine::set_loading(bool is) {
  is_loading_ = is;
  is_restricted_ =
      is || std::ranges::any_of(refusals_, [](const auto& each) { return !each.empty(); });
}

void engine::run(client& who, std::span<const std::string_view> words, const command& what,
                 std::uint64_t hash) {
  auto& counted = command_counters_[what.index];
  const auto changes_before = changes_;
  const bool timed = needs_clock(parameters_, what);
  const auto began_us = timed ? clock_us() : 0;
  if (has_monitors_ && !what.has(flag_skip_monitor)) show_to_monitors(who, words);
  if (guard_ != nullptr && what.has(flag_write)) {
    guard_->before_command(who.database, what, words);
  }
  const bool was_replaying = std::exchange(is_replaying_, who.is_replay);
  call made(*this, who, what, words, hash);
  what.run(made);
  is_replaying_ = was_replaying;
  ++counted.calls;
  if (made.has_failed()) {
    ++counted.failed;
    ++counters_.errors;
  }
  if (timed) {
    count_time(who, words, what, clock_us() - began_us, made.is_waiting());
  }
  if (who.tracking && what.has(flag_readonly)) {
    tracking_.remember(who, what, words, static_cast<std::size_t>(parameters_.tracking_max_keys));
  }
  if (changes_ != changes_before && has_listeners() && !made.is_propagated() &&
      what.has(flag_write)) {
    propagate(who.database, words);
  }
}

void engine::count_time(client& who, std::span<const std::string_view> words, const command& what,
                        std::int64_t us, bool is_waiting) {
  auto& counted = command_counters_[what.index];
  counted.us += static_cast<std::uint64_t>(us);
  if (is_waiting) return;
  counted.times.add(static_cast<std::uint64_t>(us));
  // What EXEC executes is counted one by one.
  if (what.row->name != "exec") note_latency(what.has(flag_fast) ? "fast-command" : "command", us);
  if (parameters_.slow_log_us < 0 || us < parameters_.slow_log_us) return;
  slow_log_.add(now_ms_ / 1000, us, words, who.remote_address(), who.name,
                static_cast<std::size_t>(parameters_.slow_log_length));
}

void engine::note_latency(std::string_view event, std::int64_t us) {
  const auto threshold = parameters_.latency_threshold_ms;
  if (threshold > 0 && us / 1000 >= threshold) latency_.add(event, now_ms_ / 1000, us / 1000);
}

std::optional<std::int64_t> engine::next_deadline_ms() const {
  const auto waiting = blocked_.next_deadline_ms();
  const auto paused = pause_.end_ms();
  return waiting && paused ? std::min(*waiting, *paused) : waiting ? waiting : paused;
}

void engine::propagate(unsigned index, std::span<const std::string_view> words) {
  if (listeners_.empty()) return;
  if (together_ != nullptr) together_->begin(index);
  for (auto* each : listeners_) each->on_change(index, words);
}

engine::changes_together::changes_together(engine& in) : in_(in) {
  if (in.together_ == nullptr) in.together_ = this;
}

engine::changes_together::~changes_together() {
  if (in_.together_ != this) return;
  in_.together_ = nullptr;
  if (is_begun_) tell("EXEC");
}

void engine::changes_together::begin(unsigned database) {
  database_ = database;
  if (!std::exchange(is_begun_, true)) tell("MULTI");
}

void engine::changes_together::tell(std::string_view word) const {
  const std::array words = {word};
  for (auto* each : in_.listeners_) each->on_change(database_, words);
}

void engine::execute_queued(client& who) {
  const auto queued = std::exchange(who.queued, {});
  const changes_together scope(*this);
  const bool could_block = std::exchange(who.may_block, false);
  std::vector<std::string_view> words;
  for (const auto& each : queued) {
    words.assign(each.words.begin(), each.words.end());
    if (parameters_.maxmemory > 0 && !who.is_replay && !make_room(*each.what)) {
      who.reply().error("OOM command not allowed when used memory > 'maxmemory'.");
      continue;
    }
    run(who, words, *each.what, hash_of_key(*each.what, words));
  }
  who.may_block = could_block;
}

// Serving one may make other keys ready.
void engine::serve_waiting() {
  is_serving_ = true;
  std::vector<std::string_view> words;
  while (blocked_.has_ready()) {
    for (const auto& key : blocked_.take_ready()) {
      for (auto* each : blocked_.waiting_for(key)) {
        if (!each->waiting) continue;
        // The words outlive the waiting.
        const kept_call again = each->waiting->call;
        words.assign(again.words.begin(), again.words.end());
        const auto before = each->database;
        each->database = each->waiting->database;
        each->waiting->ready = key.key;
        was_served_ = true;
        run(*each, words, *again.what, hash_of_key(*again.what, words));
        each->database = before;
        if (!was_served_) continue;
        blocked_.remove(*each);
        each->resume();
      }
    }
  }
  is_serving_ = false;
}

void engine::give_up_waiting(client& who) {
  if (!who.waiting) return;
  const auto give_up = who.waiting->give_up;
  blocked_.remove(who);
  give_up(*this, who);
  who.resume();
}

void engine::answer(std::uint64_t id, const std::function<void(client&)>& reply) {
  const auto found = std::ranges::find(clients_, id, &client::id);
  if (found == clients_.end() || !(*found)->waiting) return;
  auto& who = **found;
  blocked_.remove(who);
  reply(who);
  who.resume();
}

entry* engine::unless_expired(unsigned index, entry* found, std::uint64_t hash) {
  if (found->expires_at_ms() > now_ms_ || is_replaying_) return found;
  // The leader will say so.
  if (expires_by_leader_) return nullptr;
  ++counters_.expired;
  const std::array<std::string_view, 2> words = {"DEL", found->key()};
  propagate(index, words);
  remove(index, found, hash, event_expired, "expired");
  return nullptr;
}

void engine::remove(unsigned index, entry* which, std::uint64_t hash, event_class why,
                    std::string_view event) {
  entry* const gone = databases_[index].release(which, hash);
  touch(index, gone->key());
  notify(why, event, gone->key(), index);
  if (why == event_expired && parameters_.lazy_expire) free_later(*gone);
  entry::destroy(gone);
}

void engine::touch_all(unsigned index) {
  if (!tracking_.empty()) tracking_.flush();
  touch_database(index);
}

void engine::touch_database(unsigned index) {
  watched_.touch_all(index, [this, index](const std::string& key) {
    return databases_[index].find(key, hash_of(key)) != nullptr;
  });
  blocked_.touch_all(index);
}

void engine::clear(unsigned index, bool later) {
  touch_all(index);
  if (guard_ != nullptr) guard_->before_clear(index);
  if (later) free_later(databases_[index].take_all());
  databases_[index].clear();
}

void engine::set_guard(change_guard* one) {
  guard_ = one;
  if (one == nullptr && on_unguarded_) on_unguarded_();
}

void engine::before_change(unsigned index, std::string_view key) {
  if (guard_ != nullptr) guard_->before_change(index, key);
}

void engine::swap(unsigned first, unsigned second) {
  touch_database(first);
  touch_database(second);
  std::swap(databases_[first], databases_[second]);
  if (guard_ != nullptr) guard_->on_swap(first, second);
  std::swap(expiry_cursors_[first], expiry_cursors_[second]);
  // What is watched may be there now, though it was not before.
  touch_database(first);
  touch_database(second);
}

void engine::publish_event(event_class, std::string_view event, std::string_view key,
                           unsigned index) {
  if ((parameters_.events & event_keyspace) != 0) {
    pubsub_.publish(fmt::format("__keyspace@{}__:{}", index, key), event);
  }
  if ((parameters_.events & event_keyevent) != 0) {
    pubsub_.publish(fmt::format("__keyevent@{}__:{}", index, event), key);
  }
}

void engine::show_to_monitors(const client& who, std::span<const std::string_view> words) {
  const auto now = std::chrono::duration_cast<std::chrono::microseconds>(
                       std::chrono::system_clock::now().time_since_epoch())
                       .count();
  auto line = fmt::format("+{}.{:06} [{} {}]", now / 1'000'000, now % 1'000'000, who.database,
                          who.remote_address());
  for (const auto& each : words) line += " " + text::quoted(each);
  line += "\r\n";
  for (auto* each : clients_) {
    if (each->is_monitor && each != &who) each->push(loop::slice::copy_of(as_bytes(line)));
  }
}

}  // namespace strata::runtime::cache
