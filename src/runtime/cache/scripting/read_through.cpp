#include "runtime/cache/scripting/read_through.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "runtime/cache/engine/called_command.hpp"
#include "text/redis_number.hpp"

namespace strata::runtime::cache {

using scripting::callback;

namespace {

constexpr std::size_t most_fetched = 10000;
constexpr unsigned most_tries = 4;
constexpr double usual_timeout_ms = 5000;
constexpr double longest_life_ms = 1e15;  // some 30,000 years

}  // namespace

/// What on_miss has returned.
struct read_through::outcome {
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
  outcome result;

 private:
  void on_end(const script::finished& returned) override { of_.on_fetched(*this, returned); }

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

void read_through::on_fetched(fetching& fetching, const script::finished& returned) {
  fetching.result = read(fetching.key(), returned);
  deliver(fetching);
}

read_through::outcome read_through::read(const database_key& key,
                                         const script::finished& returned) {
  constexpr auto failure = outcome::kind::failure;
  if (returned.has_failed()) return {failure, "ERR the key was not fetched: on_miss failed"};
  if (returned.is_nothing() || returned.is_false()) return {};
  if (!returned.is_text()) {
    script_.log(level::error, fmt::format("on_miss returned no string for '{}': return a string "
                                          "and, for an expiry, seconds; or nil",
                                          key.key));
    return {failure, "ERR the key was not fetched: on_miss returned no string"};
  }
  outcome value{outcome::kind::value, std::string(returned.text())};
  if (returned.is_nothing(1)) return value;
  const auto seconds = text::parse_real(returned.text(1));
  if (!seconds || !(*seconds > 0) || *seconds * 1000 > longest_life_ms) {
    script_.log(level::error,
                fmt::format("on_miss returned '{}' as the expiry of '{}': return seconds above 0",
                            returned.text(1), key.key));
    return {failure, "ERR the key was not fetched: on_miss returned an invalid expiry"};
  }
  value.life = std::to_string(std::max<std::int64_t>(1, std::llround(*seconds * 1000)));
  return value;
}

void read_through::deliver(fetching& fetching) {
  auto& interrupted = data_.home().interrupted();
  if (interrupted.is_on()) {
    interrupted.await_end([this, &fetching] { deliver(fetching); });
    return;
  }
  const bool is_late = fetching.result.what == outcome::kind::value && is_stale(fetching);
  if (is_late && ++fetching.tries < most_tries) {
    fresh_.push_back(fetching.key());
    loop_.at_turn_end(*this);
    return;
  }
  const auto found = fetching_.find(fetching.key());
  const auto ended = std::move(found->second);
  fetching_.erase(found);
  const auto& key = ended->key();
  const auto& result = ended->result;
  if (is_late) {  // perhaps by on_miss itself
    fail(key, "ERR the key was not fetched: it was removed during each fetch");
  } else if (result.what == outcome::kind::failure) {
    fail(key, result.text);
  } else if (result.what == outcome::kind::nothing) {
    hooks_.begin_work();
    data_.report_missing(key.database, key.key);
    hooks_.end_work();
  } else if (const auto why = fill(key, result); !why.empty()) {
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
std::string read_through::fill(const database_key& key, const outcome& value) {
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
