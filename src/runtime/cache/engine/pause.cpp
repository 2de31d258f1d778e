#include "runtime/cache/engine/pause.hpp"

#include <algorithm>
#include <utility>

namespace strata::runtime::cache {

namespace {

// What a follower would be told, too.
bool is_write(const command& what) {
  return what.has(flag_write) || what.row->name == "publish" || what.row->name == "spublish";
}

}  // namespace

void pause::begin(extent what, std::int64_t end_ms) {
  end_ms_ = is_on() ? std::max(end_ms_, end_ms) : end_ms;
  what_ = std::max(what_, what);
}

void pause::end() {
  what_ = extent::none;
  for (auto* each : std::exchange(postponed_, {})) {
    each->is_postponed = false;
    each->resume();
  }
}

bool pause::holds(const client& who, const command& what) const {
  if (!who.may_block) return false;
  if (what_ == extent::all) return true;
  if (what.row->name != "exec") return is_write(what);
  return std::ranges::any_of(who.queued,
                             [](const kept_call& each) { return is_write(*each.what); });
}

void pause::postpone(client& who) {
  who.is_postponed = true;
  postponed_.push_back(&who);
}

void pause::leave(client& gone) { std::erase(postponed_, &gone); }

}  // namespace strata::runtime::cache
