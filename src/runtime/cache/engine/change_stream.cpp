#include "runtime/cache/engine/change_stream.hpp"

#include <array>
#include <utility>

#include "runtime/cache/engine/change_scope.hpp"

namespace strata::runtime::cache {

void change_stream::propagate_removal(unsigned database, std::span<const std::string_view> words,
                                      event_class why) {
  if (scope_ != nullptr && !listeners_.empty()) scope_->begin_group(database);
  for (auto* each : listeners_) each->on_let_go(database, words, why);
}

bool change_stream::is_replayed() const { return scope_ != nullptr && scope_->replays(); }

void change_stream::notify_listeners(unsigned database, std::span<const std::string_view> words) {
  if (scope_ != nullptr) scope_->begin_group(database);
  for (auto* each : listeners_) each->on_change(database, words);
}

void change_scope::begin(unsigned database) {
  database_ = database;
  if (!std::exchange(is_begun_, true)) notify("MULTI");
}

void change_scope::notify(std::string_view word) const {
  const std::array words = {word};
  for (auto* each : stream_.listeners_) each->on_change(database_, words);
}

}  // namespace strata::runtime::cache
