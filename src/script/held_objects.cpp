#include "script/held_objects.hpp"

#include <utility>
#include <vector>

#include "script/lua.hpp"
#include "script/machine.hpp"

namespace strata::script {

namespace {

// Pushes the metatable of the kind.
void push_kind(lua_State* state, const object_kind& kind) {
  lua_pushlightuserdata(state, const_cast<object_kind*>(&kind));
  lua_rawget(state, LUA_REGISTRYINDEX);
}

}  // namespace

int held_objects::collect(lua_State* state) {
  auto& held = *static_cast<held_object*>(lua_touserdata(state, 1));
  machine::of(state).objects().all_.erase(held.owner.get());
  held.~held_object();
  return 0;
}

void held_objects::add_kind(lua_State* state, const object_kind& kind) {
  lua_newtable(state);
  lua_insert(state, -2);
  lua_setfield(state, -2, "__index");
  lua_pushcfunction(state, collect);
  lua_setfield(state, -2, "__gc");
  lua_pushboolean(state, 0);
  lua_setfield(state, -2, "__metatable");
  lua_pushlightuserdata(state, const_cast<object_kind*>(&kind));
  lua_insert(state, -2);
  lua_rawset(state, LUA_REGISTRYINDEX);
}

bool held_objects::has_room(lua_State* state) const {
  if (all_.size() < limit_) return true;
  lua_gc(state, LUA_GCCOLLECT, 0);
  return all_.size() < limit_;
}

void held_objects::push(lua_State* state, const object_kind& kind, std::shared_ptr<object> object,
                        void* self) {
  luaL_checkstack(state, 4, "to give an object");
  auto* const place = lua_newuserdata(state, sizeof(held_object));
  auto* const held = new (place) held_object{std::move(object), self};
  all_.insert(held->owner.get());
  push_kind(state, kind);
  lua_setmetatable(state, -2);
}

held_object held_objects::first_argument(lua_State* state, const object_kind& kind) {
  if (lua_type(state, 1) != LUA_TUSERDATA || lua_getmetatable(state, 1) == 0) return {};
  push_kind(state, kind);
  const bool is_one = lua_rawequal(state, -1, -2) != 0;
  lua_pop(state, 2);
  return is_one ? *static_cast<const held_object*>(lua_touserdata(state, 1)) : held_object{};
}

void held_objects::close() const {
  std::vector<std::shared_ptr<object>> all;
  all.reserve(all_.size());
  for (auto* const each : all_) all.push_back(each->shared_from_this());
  for (const auto& each : all) each->close();
}

}  // namespace strata::script
