#include "script/kept_function.hpp"

#include "script/lua.hpp"

namespace strata::script {

kept_function::kept_function(machine& machine, int reference)
    : in_(&machine), reference_(reference) {
  machine.kept_.insert(this);
}

kept_function::~kept_function() {
  if (in_ == nullptr) return;
  in_->kept_.erase(this);
  luaL_unref(in_->state_, LUA_REGISTRYINDEX, reference_);
}

bool kept_function::start(std::span<const argument> arguments, waiter* waiter) {
  return in_->start_referred(reference_, callback_run::no_callback, arguments, waiter);
}

namespace {

// Takes the value on top of the stack.
std::unique_ptr<kept_function> keep(lua_State* state) {
  if (!lua_isfunction(state, -1)) {
    lua_pop(state, 1);
    return nullptr;
  }
  auto& home = machine::of(state);
  return std::make_unique<kept_function>(home, luaL_ref(state, LUA_REGISTRYINDEX));
}

}  // namespace

std::unique_ptr<kept_function> finished::function() const {
  if (values_ < 1) return nullptr;
  lua_pushvalue(by_, 1);
  return keep(by_);
}

std::unique_ptr<kept_function> finished::function(const char* field) const {
  if (values_ < 1 || !lua_istable(by_, 1)) return nullptr;
  lua_pushstring(by_, field);
  lua_rawget(by_, 1);
  return keep(by_);
}

}  // namespace strata::script
