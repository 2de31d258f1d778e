#include "runtime/cache/scripting/write_behind.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "runtime/cache/engine/called_command.hpp"
#include "runtime/cache/values/entry.hpp"
#include "text/redis_number.hpp"
#include "text/word.hpp"

namespace strata::runtime::cache {

using namespace std::chrono_literals;
using scripting::callback;

namespace {

constexpr double usual_gather_ms = 100;
constexpr double usual_at_once = 1000;
constexpr double usual_waiting = 100000;
constexpr double most_of_all = 1e7;
constexpr auto first_pause = 100ms;  // before a batch is retried
constexpr auto longest_pause = 10s;
constexpr auto between_batches = 1ms;
constexpr auto between_looks = 10ms;  // between checks of `hurried`

std::size_t count_of(double number) {
  return static_cast<std::size_t>(std::clamp(number, 1.0, most_of_all));
}

// Returns the database into which MOVE and COPY put a key, if it is not the client's.
std::optional<unsigned> other_database(const command& command,
                                       std::span<const std::string_view> words) {
  std::optional<std::int64_t> number;
  if (command.row->name == "move") {
    number = text::parse_integer(words[2]);
  } else if (command.row->name == "copy") {
    for (std::size_t i = 3; i + 1 < words.size(); ++i) {
      if (text::same_text(words[i], "db")) number = text::parse_integer(words[i + 1]);
    }
  }
  if (!number || *number < 0 || *number >= keyspace::database_count) return {};
  return static_cast<unsigned>(*number);
}

}  // namespace

using enum options::figure_kind;

// Each row is one figure in two or three lines.
// clang-format off
const std::vector<options::bound_figure<behind_figures>>& behind_figure_table() {
  static const std::vector<options::bound_figure<behind_figures>> table = {
      {{.key = "script.unflushed", .kind = gauge,
        .help = "changes of a cache that wait for its script (on_flush)",
        .metric = "strata_cache_script_unflushed", .is_hidden = true},
       &behind_figures::unflushed},
      {{.key = "script.flushed", .help = "changes of a cache that its script (on_flush) has "
                                         "accepted",
        .metric = "strata_cache_script_flushed_total", .is_hidden = true},
       &behind_figures::flushed},
      {{.key = "script.flush_errors",
        .help = "batches of changes that a cache's script (on_flush) refused and receives again",
        .metric = "strata_cache_script_flush_errors_total", .is_hidden = true},
       &behind_figures::refused},
  };
  return table;
}
// clang-format on

write_behind::write_behind(loop::loop& loop, engine& data, scripting::host& script)
    : loop_(loop), data_(data), script_(script), changed_(loop) {}

write_behind::~write_behind() {
  tasks_.cancel();
  if (is_listening_) data_.keys().changes().remove_listener(*this);
}

bool write_behind::is_wanted() const {
  return script_.has(callback::write) || script_.has(callback::deleted) ||
         script_.has(callback::expire) || script_.has(callback::flush);
}

void write_behind::heed_script() {
  gather_ = loop::from_seconds(
      std::clamp(script_.global_number("flush_ms", usual_gather_ms), 0.0, 1e9) / 1000);
  most_at_once_ = count_of(script_.global_number("flush_max", usual_at_once));
  most_waiting_ = count_of(script_.global_number("flush_backlog", usual_waiting));
  const bool listens = is_wanted();
  if (listens && !is_listening_) data_.keys().changes().add_listener(*this);
  if (!listens && is_listening_) data_.keys().changes().remove_listener(*this);
  is_listening_ = listens;
  if (listens && tasks_.empty()) tasks_.spawn(run());
  watch_backlog();
}

// --- what has changed

// Changes from a leader are for the leader's script.
void write_behind::on_change(unsigned database, std::span<const std::string_view> words) {
  if (is_deaf_ || data_.home().availability().has(obstacle::follows)) return;
  const auto* const what = find_called_command(words);
  if (what == nullptr || !what->has(flag_write)) return;  // MULTI and EXEC
  std::vector<std::size_t> places;
  if (!find_keys(*what, words, places, key_choice::changed) || places.empty()) {
    note_clear(database, words);
    return;
  }
  const auto other = other_database(*what, words);
  for (const auto place : places) {
    const bool is_there = other && what->row->name == "copy";
    note_key(is_there ? *other : database, words[place], words);
    if (other && !is_there) note_key(*other, words[place], words);
  }
}

void write_behind::on_let_go(unsigned database, std::span<const std::string_view> words,
                             event_class why) {
  const bool is_follower = data_.home().availability().has(obstacle::follows);
  if (is_deaf_ || is_follower || why != event_expired) return;
  change made{.what = kind::expire, .key = {database, std::string(words[1])}};
  add(std::move(made));
}

// Records FLUSHDB and FLUSHALL; SWAPDB is reported as a command.
void write_behind::note_clear(unsigned database, std::span<const std::string_view> words) {
  change made{.what = kind::clear, .key = {database, {}}};
  made.command.assign(words.begin(), words.end());
  add(std::move(made));
}

// Looks the key up as it is, without expiring it.
void write_behind::note_key(unsigned database, std::string_view key,
                            std::span<const std::string_view> words) {
  const entry* const now = data_.keys()[database].find(key, hash_of(key));
  change made{.key = {database, std::string(key)}};
  if (now == nullptr) {
    made.what = kind::erase;
  } else {
    made.expires_at_ms = now->expires_at_ms();
    if (now->is_string()) {
      made.value = string_view_of(*now).view();
    } else {
      made.type = name_of(now->type());
      made.command.assign(words.begin(), words.end());
    }
  }
  add(std::move(made));
}

void write_behind::add(change&& change) {
  const auto found = last_.find(change.key);
  if (change.is_whole() && found != last_.end() && found->second >= frozen_until_) {
    auto& before = waiting_[found->second - first_];
    if (before.is_whole()) {
      before = std::move(change);
      return;
    }
  }
  if (change.what == kind::clear) {
    last_.clear();  // later changes must not replace changes before it
  } else {
    last_[change.key] = first_ + waiting_.size();
  }
  waiting_.push_back(std::move(change));
  watch_backlog();
  changed_.notify();
}

void write_behind::drop_first(std::size_t count) {
  for (; count != 0; --count) {
    const auto found = last_.find(waiting_.front().key);
    if (found != last_.end() && found->second == first_) last_.erase(found);
    waiting_.pop_front();
    ++first_;
  }
  watch_backlog();
}

void write_behind::watch_backlog() {
  figures_.unflushed.set(waiting_.size());
  const bool is_full = waiting_.size() >= most_waiting_;
  if (is_full && !is_refusing_) {
    is_refusing_ = true;
    data_.home().availability().refuse_changes(
        obstacle::script_lags,
        fmt::format("BUSY the script has not accepted {} changes yet (on_flush): try again later",
                    waiting_.size()));
    script_.log(level::warning, fmt::format("{} changes wait for the script: clients' changes are "
                                            "refused until the script has accepted half of them",
                                            waiting_.size()));
  } else if (is_refusing_ && waiting_.size() <= most_waiting_ / 2) {
    is_refusing_ = false;
    data_.home().availability().refuse_changes(obstacle::script_lags, {});
    script_.log(level::info, "clients' changes are accepted again");
  }
}

// --- telling the script

loop::task<> write_behind::run() {
  loop::duration pause{};
  for (;;) {
    co_await changed_.wait([this] { return !waiting_.empty(); });
    if (script_.has(callback::flush)) {
      co_await changed_.wait([this] { return is_ending_ || waiting_.size() >= most_at_once_; },
                             loop_.now() + gather_);
    }
    const auto count = std::min(waiting_.size(), most_at_once_);
    frozen_until_ = first_ + count;
    co_await report_each(count);
    const auto taken = co_await flush(count);
    drop_first(taken);
    figures_.flushed.add(taken);
    changed_.notify();
    if (taken == count) {
      pause = {};
      // A function that changes the data makes work for itself: others must run in between.
      co_await loop_.sleep(between_batches);
      continue;
    }
    figures_.refused.add();
    pause = std::clamp<loop::duration>(pause * 2, first_pause, longest_pause);
    script_.log_few(
        "on_flush", level::warning,
        fmt::format("on_flush did not accept {} changes: it receives them again", count - taken));
    co_await loop_.sleep(is_ending_ ? loop::duration(first_pause) : pause);
  }
}

loop::task<> write_behind::report_each(std::size_t count) {
  constexpr auto is_done = [](const script::finished&) { return true; };
  for (std::size_t i = 0; i < count; ++i) {
    const auto& each = waiting_[i];
    if (std::exchange(waiting_[i].is_reported, true)) continue;
    const auto key = std::string_view(each.key.key);
    std::vector<script::argument> named{key, static_cast<double>(each.key.database)};
    if (each.what == kind::write && script_.has(callback::write)) {
      const auto detail = shown(each);
      std::vector<script::argument> with(4);
      with[0] = key;
      if (each.type.empty()) with[1] = std::string_view(each.value);
      if (each.expires_at_ms >= 0) with[2] = life_of(each);
      with[3] = &detail;
      co_await script_.ask(callback::write, std::move(with), is_done);
    } else if (each.what == kind::erase && script_.has(callback::deleted)) {
      co_await script_.ask(callback::deleted, std::move(named), is_done);
    } else if (each.what == kind::expire && script_.has(callback::expire)) {
      co_await script_.ask(callback::expire, std::move(named), is_done);
    }
  }
}

loop::task<std::size_t> write_behind::flush(std::size_t count) {
  if (!script_.has(callback::flush)) co_return count;
  auto batch = nlohmann::json::array();
  for (std::size_t i = 0; i < count; ++i) batch.push_back(shown(waiting_[i]));
  const auto read = [count](const script::finished& outcome) -> std::size_t {
    if (outcome.has_failed() || outcome.is_false()) return 0;
    const auto number = outcome.is_text() ? text::parse_integer(outcome.text()) : std::nullopt;
    if (!number) return count;
    return static_cast<std::size_t>(
        std::clamp<std::int64_t>(*number, 0, static_cast<std::int64_t>(count)));
  };
  std::vector<script::argument> with{&batch};
  co_return co_await script_.ask(callback::flush, std::move(with), read);
}

double write_behind::life_of(const change& change) const {
  const auto left = change.expires_at_ms - data_.keys().now_ms();
  return static_cast<double>(std::max<std::int64_t>(left, 0)) / 1000;
}

nlohmann::json write_behind::shown(const change& change) const {
  static constexpr std::string_view names[] = {"write", "delete", "expire", "clear"};
  nlohmann::json made{{"op", names[static_cast<std::size_t>(change.what)]},
                      {"database", change.key.database}};
  if (change.what != kind::clear) made["key"] = change.key.key;
  if (change.expires_at_ms >= 0) made["ttl"] = life_of(change);
  if (!change.command.empty()) made["command"] = change.command;
  if (change.what != kind::write) return made;
  if (change.type.empty()) {
    made["value"] = change.value;
    made["type"] = "string";
  } else {
    made["type"] = change.type;
  }
  return made;
}

loop::task<> write_behind::drain(loop::time_point limit, const std::atomic<bool>& hurried) {
  is_ending_ = true;
  if (!is_listening_) co_return;
  changed_.notify();
  const auto is_over = [&] { return waiting_.empty() || hurried; };
  [[maybe_unused]] const bool ended = co_await changed_.wait(is_over, limit, between_looks);
  if (!waiting_.empty()) {
    script_.log(level::error,
                fmt::format("the script did not accept {} changes in time: it will not "
                            "receive them",
                            waiting_.size()));
  }
  tasks_.cancel();
}

}  // namespace strata::runtime::cache
