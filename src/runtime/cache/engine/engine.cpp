#include "runtime/cache/engine/engine.hpp"

#include <algorithm>

#include "runtime/cache/engine/call.hpp"
#include "runtime/cache/engine/scripts/scripted_command.hpp"

namespace strata::runtime::cache {

namespace {

std::uint64_t hash_of_key(const command& command, std::span<const std::string_view> words) {
  const auto first = command.first_key;
  return first != 0 && first < words.size() ? hash_of(words[first]) : 0;
}

// A command whose time depends only on its words need not be timed.
bool needs_clock(const parameters& settings, const command& command) {
  constexpr std::int64_t close_look_us = 1000;
  if (settings.latency_threshold_ms > 0 || settings.latency_tracking) return true;
  if (settings.slow_log_us < 0) return false;
  return settings.slow_log_us < close_look_us || !command.has(flag_fast);
}

// Itself, or by the commands that it executes.
bool runs_script(const client& client, const command& command) {
  return command.runs_script() || (client.executes_queued(command) &&
                                   std::ranges::any_of(client.queued, [](const kept_call& each) {
                                     return each.what->runs_script();
                                   }));
}

}  // namespace

engine::engine(const engine_clock& clock) : keys_(parameters_, clock), front_(keys_, parameters_) {}

engine::~engine() = default;

void engine::execute(client& client, std::span<const std::string_view> words) {
  const auto* const what = find_command(words[0]);
  execute(client, words, what, what == nullptr ? 0 : hash_of_key(*what, words));
}

void engine::execute(client& client, std::span<const std::string_view> words,
                     const command* command, std::uint64_t hash) {
  ++front_.statistics().counted().commands;
  ++client.calls;
  client.last_command_ms = keys_.now_ms();
  if (!takes_fast_path(client, words.size(), command)) {
    const auto* const container = command;
    command = accept(client, words, command);
    // A subcommand has its key in another place.
    if (command != nullptr && command != container) hash = hash_of_key(*command, words);
  }
  if (command == nullptr) {
    if (client.in_transaction) client.transaction_failed = true;
    return;
  }
  if (front_.pausing().is_on() && postpone(client, *command, words)) return;
  client.last_command = command;
  if (client.in_transaction && !command->has(trait_ends_transaction)) {
    client.queued.emplace_back(command, words);
    client.reply().status("QUEUED");
    return;
  }
  if (may_interrupt(client, *command)) {
    if (!scripted_) scripted_ = std::make_unique<scripted_command>(*this);
    scripted_->execute(client, words, *command, hash);
  } else {
    execute_accepted(client, words, *command, hash, nullptr);
  }
}

bool engine::may_interrupt(const client& client, const command& command) const {
  return runs_script(client, command) && parameters_.busy_threshold_ms > 0 && client.may_block &&
         !client.is_replay;
}

bool engine::may_interrupt() const { return scripted_ && scripted_->is_in_script(); }

bool engine::is_in_interrupted() const { return scripted_ && scripted_->is_running(); }

void engine::interrupt() { scripted_->interrupt(); }

void engine::resume_interrupted() { scripted_->resume(); }

// What others execute while a script is interrupted is not the script's: the changes and the
// waiting clients are.
void engine::execute_accepted(client& client, std::span<const std::string_view> words,
                              const command& command, std::uint64_t hash,
                              scripted_command* scripted) {
  const auto& interrupted = front_.interrupted();
  auto& trackers = front_.trackers();
  const bool is_tracked = !trackers.empty() && !interrupted.is_on();
  if (is_tracked) trackers.begin(client);
  {
    call made(*this, client, command, words, hash);
    if (scripted != nullptr) scripted->begin(made);
    run(made);
  }
  if (scripted != nullptr) scripted->end();
  if (front_.blocked().has_ready() && !interrupted.is_on()) serve_waiting();
  if (is_tracked) trackers.end(command);
}

void engine::execute_inside(const execution& outer, const command& command,
                            std::span<const std::string_view> words) {
  call made(*this, outer.who, command, words, hash_of_key(command, words));
  run(made);
}

void engine::execute_for_script(const execution& outer, client& hand,
                                std::span<const std::string_view> words, script_rules& rules) {
  const auto* const command = accept_for_script(outer, hand, words, rules);
  if (command == nullptr) return;
  if (command->has(flag_write)) rules.may_exceed_memory = true;
  call made(*this, hand, *command, words, hash_of_key(*command, words));
  if (!rules.is_propagated) made.propagate_nothing();
  run(made);
  if (outer.who.tracking && command->has(flag_readonly)) {
    // What it reads, and as in Redis, all keys that the script declares.
    const auto most_keys = static_cast<std::size_t>(parameters_.tracking_max_keys);
    front_.trackers().remember(outer.who, *command, words, most_keys);
    front_.trackers().remember(outer.who, outer.what, outer.words, most_keys);
  }
}

void engine::run(call& call) {
  const auto& what = call.what;
  auto& who = call.who;
  const bool timed = needs_clock(parameters_, what);
  const auto began_us = timed ? keys_.clock().steady_us() : 0;
  // A command that is repeated after a wait has been shown and counted before.
  const bool is_repeated = who.waiting.has_value();
  const bool is_shown = front_.feed().is_watched() && !is_repeated;
  if (keys_.is_guarded() && what.has(flag_write)) {
    keys_.before_command(who.database, what, call.words);
  }
  // EXEC stands behind what it executed, a script before.
  const bool runs_script = what.has(flag_skip_monitor);
  if (is_shown && runs_script) front_.feed().show(who, what, call.words);
  if (runs_script) {
    run_script(call);
  } else {
    what.run(call);
  }
  if (is_shown && !runs_script) front_.feed().show(who, what, call.words);
  auto& counted = front_.statistics().counted_commands()[what.index];
  if (!is_repeated) ++counted.calls;
  if (call.has_failed()) ++counted.failed;
  if (timed) {
    const auto us = keys_.clock().steady_us() - began_us;
    counted.us += static_cast<std::uint64_t>(us);
    if (!call.is_waiting()) front_.statistics().count_time(who, what, call.words, us);
  }
  // Of a script's keys, what it reads counts.
  if (who.tracking && what.has(flag_readonly) && !runs_script) {
    front_.trackers().remember(who, what, call.words,
                               static_cast<std::size_t>(parameters_.tracking_max_keys));
  }
  if (keys_.changes().has_listeners() && call.has_to_be_propagated()) {
    keys_.changes().propagate(who.database, call.words);
  }
}

void engine::run_script(call& call) {
  const bool is_on_stack = scripted_ && scripted_->is_running();
  if (is_on_stack) scripted_->begin_script(call);
  call.what.run(call);
  if (is_on_stack) scripted_->end_script();
}

// Serving one client may make other keys ready.
void engine::serve_waiting() {
  auto& blocked = front_.blocked();
  std::vector<std::string_view> words;
  while (blocked.has_ready()) {
    for (const auto& key : blocked.take_ready()) {
      for (auto* each : blocked.waiting_for(key)) {
        if (!each->waiting) continue;
        // The words must outlive the wait.
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
        each->resume(made.has_changed_data());
      }
    }
  }
}

void engine::report_missing(unsigned database, std::string_view key) {
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
    front_.answer(each->id, [why](client& client) { client.reply().error(why); });
  }
}

bool engine::tick(loop::duration budget) {
  front_.end_overdue();
  if (front_.blocked().has_ready()) serve_waiting();
  const auto began_us = keys_.clock().steady_us();
  const bool is_paused = front_.pausing().holds_writes();
  const bool done = keys_.tidy(budget, !is_paused);
  if (!is_paused) {
    front_.statistics().note_latency("expire-cycle", keys_.clock().steady_us() - began_us);
  }
  end_batch();
  return done;
}

}  // namespace strata::runtime::cache
