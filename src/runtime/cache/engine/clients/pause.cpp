#include "runtime/cache/engine/clients/pause.hpp"

#include <algorithm>
#include <utility>

namespace strata::runtime::cache {

namespace {

// Reports whether the command would be propagated to a follower.
bool is_write(const command& command) {
  return command.has(flag_write) || command.row->name == "publish" ||
         command.row->name == "spublish" || command.row->name == "pfcount";
}

}  // namespace

void pause::begin(extent extent, std::int64_t end_ms) {
  end_ms_ = is_on() ? std::max(end_ms_, end_ms) : end_ms;
  what_ = std::max(what_, extent);
}

void pause::end() {
  what_ = extent::none;
  for (auto* each : std::exchange(postponed_, {})) {
    each->is_postponed = false;
    each->resume();
  }
}

bool pause::holds(const client& client, const command& command) const {
  if (!client.may_block) return false;
  if (what_ == extent::all) return true;
  if (command.row->name != "exec") return is_write(command);
  return std::ranges::any_of(client.queued,
                             [](const kept_call& each) { return is_write(*each.what); });
}

void pause::postpone(client& client) {
  client.is_postponed = true;
  postponed_.push_back(&client);
}

void pause::leave(client& gone) { std::erase(postponed_, &gone); }

}  // namespace strata::runtime::cache
