#include "runtime/cache/engine/call.hpp"

#include <algorithm>
#include <cmath>

#include "runtime/cache/engine/access.hpp"
#include "runtime/cache/engine/key_source.hpp"
#include "text/word.hpp"

namespace strata::runtime::cache {

bool call::is(std::size_t index, std::string_view option) const {
  return index < words.size() && text::same_text(words[index], option);
}

void call::count_use(entry& entry) const {
  entry.set_access(next_access(keys().limits(), entry.access(), now_ms(), keys().random()));
}

void call::miss(std::string_view key) {
  ++keys().counted().misses;
  keys().notify(event_miss, "keymiss", key, who.database);
}

entry* call::add(entry* fresh, std::uint64_t hash) {
  fresh->set_access(first_access(keys().limits(), now_ms()));
  data().add(fresh, hash);
  keys().notify(event_new, "new", fresh->key(), who.database);
  return fresh;
}

void call::store(entry* fresh, std::uint64_t hash) {
  entry* const old = keys().find(who.database, fresh->key(), hash);
  if (old == nullptr) {
    add(fresh, hash);
    return;
  }
  fresh->set_access(first_access(keys().limits(), now_ms()));
  data().replace(old, fresh, hash);
}

void call::remove(entry* which, std::uint64_t hash) {
  keys().remove(who.database, which, hash, event_generic, "del");
}

void call::drop_empty(std::string_view key, std::uint64_t hash) {
  remove(data().find(key, hash), hash);
}

void call::changed(std::string_view key, event_class kind, std::string_view event,
                   std::uint64_t count) {
  keys().touch(who.database, key);
  keys().changes().record(count);
  keys().notify(kind, event, key, who.database);
}

std::optional<std::int64_t> call::integer(std::size_t index, std::string_view error) {
  const auto value = text::parse_integer(words[index]);
  if (!value) fail(error);
  return value;
}

std::optional<double> call::real(std::size_t index, std::string_view error) {
  const auto value = text::parse_real(words[index]);
  if (!value) fail(error);
  return value;
}

void call::fail(std::string_view text) {
  home().statistics().count_error(text);
  fail_again(text);
}

void call::fail_again(std::string_view text) {
  failed_ = true;
  reply.error(text);
}

void call::fail_arity() {
  fail("ERR wrong number of arguments for '" + what.full_name() + "' command");
}

void call::fail_subcommand() {
  const auto& container = what.parent == nullptr ? *what.row : *what.parent;
  fail("ERR unknown subcommand or wrong number of arguments for '" +
       std::string(words[1].substr(0, std::min<std::size_t>(words[1].find('\0'), 128))) +
       "'. Try " + text::in_capitals(container.name) + " HELP.");
}

void call::reply_lines(std::span<const std::string_view> lines) {
  reply.array(lines.size());
  for (const auto& each : lines) reply.status(each);
}

void call::propagate_list(std::span<const std::string_view> other) {
  propagated_ = true;
  keys().changes().propagate(who.database, other);
}

void call::wait_for(std::span<const std::string_view> keys, std::optional<std::int64_t> deadline_ms,
                    give_up_reply give_up) {
  waits_ = true;
  if (who.waiting) {
    // Executed again without success: it keeps its place.
    return;
  }
  who.waiting.emplace(waiting_state{kept_call(&what, words), who.database,
                                    std::vector<std::string>(keys.begin(), keys.end()), deadline_ms,
                                    give_up});
  home().blocked().add(who);
}

bool call::has_to_fetch_some(std::span<const std::string_view> texts) {
  if (home().source() == nullptr) return false;
  std::vector<std::string_view> missing;
  for (const auto& key : texts) {
    if (keys().find(who.database, key, hash_of(key)) == nullptr) missing.push_back(key);
  }
  return await_source(missing);
}

bool call::await_source(std::span<const std::string_view> missing) {
  if (!may_block()) return false;
  auto& source = *home().source();
  bool is_coming = false;
  for (const auto& key : missing) {
    if (who.waiting && std::ranges::find(who.waiting->nowhere, key) != who.waiting->nowhere.end()) {
      continue;
    }
    const auto said = source.fetch(who.database, key);
    if (said == key_source::answer::busy) {
      fail("BUSY too many keys are being fetched: try again later");
      return true;
    }
    is_coming = is_coming || said == key_source::answer::fetching;
  }
  if (!is_coming) return false;
  wait_for(missing, now_ms() + source.timeout_ms(), [](front& /*home*/, client& waited) {
    waited.reply().error("ERR the key was not fetched in time (on_miss)");
  });
  who.waiting->is_fetching = true;
  return true;
}

bool call::parse_timeout(std::size_t index, std::optional<std::int64_t>& deadline_ms) {
  const auto seconds = text::parse_long_real(words[index]);
  if (!seconds) {
    fail("ERR timeout is not a float or out of range");
    return false;
  }
  const long double ms = *seconds * 1000;
  if (ms > static_cast<long double>(INT64_MAX)) {
    fail("ERR timeout is out of range");
    return false;
  }
  if (ms < 0) {
    fail("ERR timeout is negative");
    return false;
  }
  std::int64_t deadline = 0;
  const auto rounded = static_cast<std::int64_t>(std::ceil(ms));
  if (__builtin_add_overflow(rounded, now_ms(), &deadline)) {
    fail("ERR timeout is out of range");
    return false;
  }
  if (rounded != 0) deadline_ms = deadline;
  return true;
}

}  // namespace strata::runtime::cache
