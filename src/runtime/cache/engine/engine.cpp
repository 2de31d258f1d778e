#include "runtime/cache/engine/engine.hpp"

#include "runtime/cache/engine/call.hpp"

namespace strata::runtime::cache {

namespace {

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

void engine::execute(client& who, std::span<const std::string_view> words) {
  const auto* const what = find_command(words[0]);
  execute(who, words, what, what == nullptr ? 0 : hash_of_key(*what, words));
}

void engine::execute(client& who, std::span<const std::string_view> words, const command* what,
                     std::uint64_t hash) {
  ++front_.counted().commands;
  ++who.calls;
  who.last_command_ms = keys_.now_ms();
  if (!takes_fast_path(who, words.size(), what)) {
    const auto* const container = what;
    what = accept(who, words, what);
    // A subcommand has its key elsewhere.
    if (what != nullptr && what != container) hash = hash_of_key(*what, words);
  }
  if (what == nullptr) {
    ++front_.counted().errors;
    if (who.in_transaction) who.transaction_failed = true;
    return;
  }
  if (front_.pausing().is_on() && postpone(who, *what)) return;
  who.last_command = what;
  if (who.in_transaction && !what->has(trait_ends_transaction)) {
    who.queued.emplace_back(what, words);
    who.reply().status("QUEUED");
    return;
  }
  auto& trackers = front_.trackers();
  const bool is_tracked = !trackers.empty();
  if (is_tracked) trackers.begin(who);
  {
    call made(*this, who, *what, words, hash);
    run(made);
  }
  if (front_.blocked().has_ready()) serve_waiting();
  if (is_tracked) trackers.end(*what);
}

void engine::execute_inside(const execution& outer, const command& what,
                            std::span<const std::string_view> words) {
  call made(*this, outer.who, what, words, hash_of_key(what, words));
  run(made);
}

void engine::run(call& made) {
  const auto& what = made.what;
  auto& who = made.who;
  const bool timed = needs_clock(parameters_, what);
  const auto began_us = timed ? keys_.clock().steady_us() : 0;
  const bool is_repeated = who.waiting.has_value();
  if (keys_.is_guarded() && what.has(flag_write)) {
    keys_.before_command(who.database, what, made.words);
  }
  what.run(made);
  // After it, so that EXEC stands behind what it executed.
  if (front_.has_monitors() && !is_repeated) {
    front_.show_to_monitors(who, what, made.words);
  }
  auto& counted = front_.counted_commands()[what.index];
  ++counted.calls;
  if (made.has_failed()) {
    ++counted.failed;
    ++front_.counted().errors;
  }
  if (timed) {
    const auto us = keys_.clock().steady_us() - began_us;
    counted.us += static_cast<std::uint64_t>(us);
    if (!made.is_waiting()) front_.count_time(who, what, made.words, us);
  }
  if (who.tracking && what.has(flag_readonly)) {
    front_.trackers().remember(who, what, made.words,
                               static_cast<std::size_t>(parameters_.tracking_max_keys));
  }
  if (keys_.has_listeners() && made.has_to_be_propagated()) {
    keys_.propagate(who.database, made.words);
  }
}

// Serving one may make other keys ready.
void engine::serve_waiting() {
  auto& blocked = front_.blocked();
  std::vector<std::string_view> words;
  while (blocked.has_ready()) {
    for (const auto& key : blocked.take_ready()) {
      for (auto* each : blocked.waiting_for(key)) {
        if (!each->waiting) continue;
        // The words outlive the waiting.
        const kept_call again = each->waiting->call;
        words.assign(again.words.begin(), again.words.end());
        const auto before = each->database;
        each->database = each->waiting->database;
        each->waiting->ready = key.key;
        call made(*this, *each, *again.what, words, hash_of_key(*again.what, words));
        run(made);
        each->database = before;
        if (made.is_waiting()) continue;
        blocked.remove(*each);
        each->resume();
      }
    }
  }
}

void engine::tell_missing(unsigned database, std::string_view key) {
  auto& blocked = front_.blocked();
  for (auto* each : blocked.waiting_for({database, std::string(key)})) {
    if (each->waiting->is_fetching) each->waiting->nowhere.emplace_back(key);
  }
  blocked.touch(database, key);
  serve_waiting();
}

void engine::fail_fetching(unsigned database, std::string_view key, std::string_view why) {
  for (auto* each : front_.blocked().waiting_for({database, std::string(key)})) {
    if (!each->waiting || !each->waiting->is_fetching) continue;
    front_.answer(each->id, [why](client& who) { who.reply().error(why); });
  }
}

bool engine::tick(loop::duration budget) {
  front_.end_overdue();
  const auto began_us = keys_.clock().steady_us();
  const bool is_paused = front_.pausing().is_on();
  const bool done = keys_.tidy(budget, !is_paused);
  if (!is_paused) front_.note_latency("expire-cycle", keys_.clock().steady_us() - began_us);
  end_batch();
  return done;
}

}  // namespace strata::runtime::cache
