#include "runtime/cache/scripting/read_through.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "runtime/cache/engine/called_command.hpp"
#include "text/redis_number.hpp"

namespace strata::runtime::cache {

using scripting::callback;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t most_fetched = 10000;
constexpr unsigned most_tries = 4;
constexpr double usual_timeout_ms = 5000;
constexpr double longest_life_ms = 1e15;  // some 30,000 years

}  // namespace

/// What on_miss has returned.
struct read_through::fetched {
  enum class kind : std::uint8_t { value, nothing, failure };
  kind what = kind::nothing;
  std::string text = {};  // the value, or the error that the waiting clients get
  std::string life = {};  // of the value, in milliseconds; empty: it does not expire
};

class read_through::fetching final : public script::waiter {
 public:
  fetching(read_through& through, database_key key) : of_(through), key_(std::move(key)) {}
  [[nodiscard]] const database_key& key() const { return key_; }
  bool is_overtaken = false;  ///< written or removed since on_miss was called
  unsigned tries = 0;         ///< how often that happened
  fetched got;

 private:
  void on_end(const script::finished& outcome) override { of_.on_fetched(*this, outcome); }

  read_through& of_;
  database_key key_;
};

read_through::read_through(loop::loop& loop, engine& data, own_client& hand,
                           const work_hooks& hooks, scripting::host& script,
                           std::function<void(bool)> on_fill)
    : loop_(loop),
      data_(data),
      hand_(hand),
      hooks_(hooks),
      script_(script),
      on_fill_(std::move(on_fill)) {}

read_through::~read_through() {
  data_.home().set_source(nullptr);
  if (is_listening_) data_.keys().changes().remove_listener(*this);
}

void read_through::heed_script() {
  const bool has_it = script_.has(callback::miss);
  data_.home().set_source(has_it ? this : nullptr);
  if (has_it && !std::exchange(is_listening_, true)) data_.keys().changes().add_listener(*this);
  timeout_ms_ = std::llround(script_.global_number("miss_ms", usual_timeout_ms));
}

// A follower has its leader's data, and fetches nothing.
key_source::answer read_through::fetch(unsigned database, std::string_view key) {
  if (data_.home().availability().has(obstacle::follows)) return answer::nothing;
  if (fetching_.contains(database_key_view{database, key})) return answer::fetching;
  if (fetching_.size() >= most_fetched) return answer::busy;
  database_key which{database, std::string(key)};
  fetching_.emplace(which, std::make_unique<fetching>(*this, which));
  fresh_.push_back(std::move(which));
  loop_.at_turn_end(*this);
  return answer::fetching;
}

void read_through::note_removed(unsigned database, std::string_view key) {
  const auto found = fetching_.find(database_key_view{database, key});
  if (found != fetching_.end()) found->second->is_overtaken = true;
}

// MOVE, COPY and SWAPDB reach other databases, so only the key is compared: at worst, a key is
// fetched twice.
void read_through::on_change(unsigned /*database*/, std::span<const std::string_view> words) {
  if (fetching_.empty() || is_filling_) return;
  const auto* const what = find_called_command(words);
  if (what == nullptr || !what->has(flag_write)) return;  // MULTI and EXEC
  std::vector<std::size_t> places;
  const bool are_known = find_keys(*what, words, places, key_choice::changed) && !places.empty();
  for (auto& [key, each] : fetching_) {
    const auto is_it = [&](std::size_t place) { return words[place] == key.key; };
    if (!are_known || std::ranges::any_of(places, is_it)) each->is_overtaken = true;
  }
}

// Calls on_miss here, since a script's function never runs inside a command.
void read_through::on_turn_end() {
  for (const auto& key : std::exchange(fresh_, {})) {
    const auto found = fetching_.find(key);
    found->second->is_overtaken = false;
    const script::argument with[] = {std::string_view(key.key), static_cast<double>(key.database)};
    script_.start(callback::miss, with, found->second.get());
  }
}

void read_through::on_fetched(fetching& fetching, const script::finished& outcome) {
  fetching.got = read(fetching.key(), outcome);
  if (!data_.home().interrupted().is_on()) {
    deliver(fetching);
    return;
  }
  waiting_.push_back(fetching.key());
  if (delivering_.empty()) delivering_.spawn(deliver_waiting());
}

loop::task<> read_through::deliver_waiting() {
  while (data_.home().interrupted().is_on()) co_await loop_.sleep(10ms);
  for (const auto& key : std::exchange(waiting_, {})) deliver(*fetching_.find(key)->second);
}

read_through::fetched read_through::read(const database_key& key, const script::finished& outcome) {
  constexpr auto failure = fetched::kind::failure;
  if (outcome.has_failed()) return {failure, "ERR the key was not fetched: on_miss failed"};
  if (outcome.is_nothing() || outcome.is_false()) return {};
  if (!outcome.is_text()) {
    script_.log(level::error, fmt::format("on_miss returned no string for '{}': return a string "
                                          "and, for an expiry, seconds; or nil",
                                          key.key));
    return {failure, "ERR the key was not fetched: on_miss returned no string"};
  }
  fetched value{fetched::kind::value, std::string(outcome.text())};
  if (outcome.is_nothing(1)) return value;
  const auto seconds = text::parse_real(outcome.text(1));
  if (!seconds || !(*seconds > 0) || *seconds * 1000 > longest_life_ms) {
    script_.log(level::error,
                fmt::format("on_miss returned '{}' as the expiry of '{}': return seconds above 0",
                            outcome.text(1), key.key));
    return {failure, "ERR the key was not fetched: on_miss returned an invalid expiry"};
  }
  value.life = std::to_string(std::max<std::int64_t>(1, std::llround(*seconds * 1000)));
  return value;
}

void read_through::deliver(fetching& fetching) {
  const bool is_late = fetching.got.what == fetched::kind::value && is_stale(fetching);
  if (is_late && ++fetching.tries < most_tries) {
    fresh_.push_back(fetching.key());
    loop_.at_turn_end(*this);
    return;
  }
  const auto found = fetching_.find(fetching.key());
  const auto ended = std::move(found->second);
  fetching_.erase(found);
  const auto& key = ended->key();
  const auto& got = ended->got;
  if (is_late) {  // perhaps by on_miss itself
    fail(key, "ERR the key was not fetched: it was removed during each fetch");
  } else if (got.what == fetched::kind::failure) {
    fail(key, got.text);
  } else if (got.what == fetched::kind::nothing) {
    hooks_.begin_work();
    data_.report_missing(key.database, key.key);
    hooks_.end_work();
  } else if (const auto why = fill(key, got); !why.empty()) {
    fail(key, why);
  }
}

bool read_through::is_stale(const fetching& fetching) {
  if (!fetching.is_overtaken) return false;
  const auto& key = fetching.key();
  hooks_.begin_work();
  const bool is_there = data_.keys().find(key.database, key.key, hash_of(key.key)) != nullptr;
  hooks_.end_work();
  return !is_there;
}

// Puts the value into the cache, unless a client has written one meanwhile: the waiting clients are
// then served with that. Returns the error that they get instead, if any.
std::string read_through::fill(const database_key& key, const fetched& value) {
  std::vector<std::string_view> words{"SET", key.key, value.text, "NX"};
  if (!value.life.empty()) words.insert(words.end(), {"PX", value.life});
  on_fill_(true);
  is_filling_ = true;
  const auto said = hand_.execute(key.database, words);
  is_filling_ = false;
  on_fill_(false);
  return said.what == proto::resp_value::kind::error ? said.text : std::string();
}

void read_through::fail(const database_key& key, std::string_view why) {
  hooks_.begin_work();
  data_.fail_fetching(key.database, key.key, why);
  hooks_.end_work();
}

}  // namespace strata::runtime::cache
