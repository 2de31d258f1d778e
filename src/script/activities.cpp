#include "script/activities.hpp"

#include <utility>

#include "script/lua.hpp"

namespace strata::script {

namespace {

constexpr std::size_t most_idle = 64;

}  // namespace

void activity::attach(waiter& receiver) {
  awaiter = &receiver;
  receiver.activity_ = this;
}

void activity::detach() {
  if (awaiter != nullptr) awaiter->activity_ = nullptr;
  awaiter = nullptr;
  steps = nullptr;
}

void activity::report(const finished& outcome) const {
  if (awaiter != nullptr) awaiter->on_end(outcome);
}

void activity::end_early() {
  auto* const receiver = awaiter;
  detach();
  if (receiver != nullptr) receiver->on_end(finished(nullptr, -1));
}

activity& activities::take(lua_State* state, waiter* waiter) {
  if (idle_.empty()) {
    auto added = std::make_unique<activity>();
    added->thread = lua_newthread(state);
    added->anchor = luaL_ref(state, LUA_REGISTRYINDEX);
    idle_.push_back(added.get());
    all_.push_back(std::move(added));
  }
  auto& taken = *idle_.back();
  idle_.pop_back();
  taken.callback = callback_run::no_callback;
  taken.has_begun = false;
  if (waiter != nullptr) taken.attach(*waiter);
  return taken;
}

void activities::release(lua_State* state, activity& ended, bool is_usable) {
  ended.detach();
  if (is_usable && idle_.size() < most_idle) {
    lua_settop(ended.thread, 0);
    idle_.push_back(&ended);
    return;
  }
  luaL_unref(state, LUA_REGISTRYINDEX, ended.anchor);
  std::erase_if(all_, [&ended](const auto& each) { return each.get() == &ended; });
}

void activities::end_early() {
  for (const auto& each : all_) each->end_early();
}

}  // namespace strata::script
