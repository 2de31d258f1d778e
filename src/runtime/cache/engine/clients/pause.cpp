#include "runtime/cache/engine/clients/pause.hpp"

#include <algorithm>
#include <utility>

#include "runtime/cache/engine/scripts/evaluator.hpp"
#include "runtime/cache/engine/scripts/script_head.hpp"

namespace strata::runtime::cache {

namespace {

// Reports whether the command, or one that its script executes, may be propagated to a follower.
bool is_write(const command& command, std::span<const std::string_view> words, evaluator* scripts) {
  if (command.has(trait_runs_script)) {
    return scripts == nullptr || (scripts->declared_flags(command, words) & script_no_writes) == 0;
  }
  return command.has(flag_write) || command.has(trait_propagated);
}

}  // namespace

void pause::begin(extent extent, std::int64_t end_ms) {
  end_ms_ = what_ != pause::extent::none ? std::max(end_ms_, end_ms) : end_ms;
  what_ = std::max(what_, extent);
}

void pause::end() {
  what_ = extent::none;
  resume_all();
}

void pause::set_failing_over(bool enabled) {
  is_failing_over_ = enabled;
  if (!enabled) resume_all();
}

void pause::release(const held_keys& keys) {
  std::erase(holds_, &keys);
  resume_all();
}

// A command for which another reason is left is postponed once more.
void pause::resume_all() {
  for (auto* each : std::exchange(postponed_, {})) {
    each->is_postponed = false;
    each->resume(false);
  }
}

bool pause::holds(const client& client, const command& command,
                  std::span<const std::string_view> words, evaluator* scripts) const {
  // The cache's own script cannot wait: it gets an error, but not for the sake of CLIENT PAUSE.
  const bool is_refused = client.is_script && (is_failing_over_ || !holds_.empty());
  if (!client.may_block && !is_refused) return false;
  if (what_ == extent::all) return true;
  if (command.row->name != "exec") return holds_call(command, words, scripts);
  return std::ranges::any_of(client.queued, [this, scripts](const kept_call& each) {
    const std::vector<std::string_view> queued(each.words.begin(), each.words.end());
    return holds_call(*each.what, queued, scripts);
  });
}

bool pause::holds_call(const command& command, std::span<const std::string_view> words,
                       evaluator* scripts) const {
  if (!is_write(command, words, scripts)) return false;
  return holds_writes() || (!holds_.empty() && may_change_held(command, words));
}

// A command that changes data without naming keys, such as FLUSHALL, may change any.
bool pause::may_change_held(const command& command, std::span<const std::string_view> words) const {
  std::vector<std::size_t> positions;
  if (command.has(trait_runs_script) ||
      !find_keys(command, words, positions, key_choice::changed) ||
      (positions.empty() && command.has(flag_write))) {
    return true;
  }
  return std::ranges::any_of(positions, [&](std::size_t position) {
    return std::ranges::any_of(holds_, [&](const held_keys* keys) {
      return std::ranges::find(*keys, words[position]) != keys->end();
    });
  });
}

void pause::postpone(client& client) {
  client.is_postponed = true;
  postponed_.push_back(&client);
}

void pause::leave(client& gone) { std::erase(postponed_, &gone); }

}  // namespace strata::runtime::cache
