#include "runtime/cache/engine/change_stream.hpp"

#include <array>
#include <utility>

#include "runtime/cache/engine/change_scope.hpp"

namespace strata::runtime::cache {

void change_stream::propagate_removal(unsigned database, std::span<const std::string_view> words,
                                      event_class why) {
  if (listeners_.empty() || (scope_ != nullptr && scope_->hold(database, words, why))) return;
  for (auto* each : listeners_) each->on_let_go(database, words, why);
}

void change_stream::propagate_message(std::span<const std::string_view> words) {
  if (listeners_.empty()) return;
  if (scope_ != nullptr) scope_->release();
  for (auto* each : listeners_) each->on_message(words);
}

bool change_stream::is_replayed() const { return scope_ != nullptr && scope_->replays(); }

void change_stream::notify_listeners(unsigned database, std::span<const std::string_view> words) {
  if (scope_ != nullptr && scope_->hold(database, words, {})) return;
  for (auto* each : listeners_) each->on_change(database, words);
}

bool change_scope::hold_first(unsigned database, std::span<const std::string_view> words,
                              std::optional<event_class> removal) {
  const bool is_first = !is_begun_ && !held_;
  if (is_first) {
    held_ = {.database = database, .words = {words.begin(), words.end()}, .removal = removal};
  } else if (held_) {
    begin();
  }
  database_ = database;
  return is_first;
}

void change_scope::begin() {
  is_begun_ = true;
  notify("MULTI");
  propagate_held();
}

void change_scope::end() {
  if (is_begun_) {
    notify("EXEC");
  } else {
    propagate_held();
  }
}

void change_scope::propagate_held() {
  const auto held = std::move(*held_);
  held_.reset();
  const std::vector<std::string_view> words(held.words.begin(), held.words.end());
  for (auto* each : stream_.listeners_) {
    if (held.removal) {
      each->on_let_go(held.database, words, *held.removal);
    } else {
      each->on_change(held.database, words);
    }
  }
}

void change_scope::notify(std::string_view word) const {
  const std::array words = {word};
  for (auto* each : stream_.listeners_) each->on_change(database_, words);
}

}  // namespace strata::runtime::cache
