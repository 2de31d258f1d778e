// How a machine passes objects to its script, and calls their methods.
#include <utility>

#include "script/lua.hpp"
#include "script/machine.hpp"
#include "script/machine_parts.hpp"

namespace strata::script {

namespace {

struct held_object {
  std::shared_ptr<object> what;
  void* self;  // the object as its methods take it
};

// Pushes the metatable of the kind.
void push_kind(lua_State* state, const object_kind& kind) {
  lua_pushlightuserdata(state, const_cast<object_kind*>(&kind));
  lua_rawget(state, LUA_REGISTRYINDEX);
}

}  // namespace

int machine::collect_object(lua_State* state) {
  auto& held = *static_cast<held_object*>(lua_touserdata(state, 1));
  of(state).objects_.erase(held.what.get());
  held.~held_object();
  return 0;
}

// The first argument is the object; the method gets the others.
int machine::dispatch_method(lua_State* state) {
  const auto& to = *static_cast<const bound_function*>(lua_touserdata(state, lua_upvalueindex(1)));
  bool is_one = lua_type(state, 1) == LUA_TUSERDATA && lua_getmetatable(state, 1) != 0;
  if (is_one) {
    push_kind(state, *to.kind);
    is_one = lua_rawequal(state, -1, -2) != 0;
    lua_pop(state, 2);
  }
  if (!is_one) {
    return luaL_error(state, "%s: called without its object: write a colon before its name",
                      to.shown_name.c_str());
  }
  const auto held = *static_cast<const held_object*>(lua_touserdata(state, 1));
  lua_remove(state, 1);
  return invoke(state, to, held.self);
}

void machine::make_kind(const object_kind& kind) {
  lua_pushlightuserdata(state_, const_cast<object_kind*>(&kind));
  lua_newtable(state_);
  lua_newtable(state_);
  for (const auto& row : kind.methods) {
    auto bound = std::make_unique<bound_function>(
        bound_function{&row, parse_parameters(row.parameters),
                       std::string(kind.name) + ":" + std::string(row.name), nullptr, &kind});
    lua_pushlightuserdata(state_, bound.get());
    lua_pushcclosure(state_, dispatch_method, 1);
    lua_setfield(state_, -2, std::string(row.name).c_str());
    functions_.push_back(std::move(bound));
  }
  lua_setfield(state_, -2, "__index");
  lua_pushcfunction(state_, collect_object);
  lua_setfield(state_, -2, "__gc");
  lua_pushboolean(state_, 0);
  lua_setfield(state_, -2, "__metatable");
  lua_rawset(state_, LUA_REGISTRYINDEX);
}

bool machine::has_room_for_object() {
  if (objects_.size() < settings_.most_objects) return true;
  // Objects that the script has released exist until they are collected.
  lua_gc(state_, LUA_GCCOLLECT, 0);
  return objects_.size() < settings_.most_objects;
}

void machine::push_object(lua_State* state, const object_kind& kind, std::shared_ptr<object> object,
                          void* self) {
  luaL_checkstack(state, 4, "to give an object");
  auto* const place = lua_newuserdata(state, sizeof(held_object));
  auto* const held = new (place) held_object{std::move(object), self};
  objects_.insert(held->what.get());
  push_kind(state, kind);
  lua_setmetatable(state, -2);
}

void machine::forget(int promised) {
  if (promised != 0) luaL_unref(state_, LUA_REGISTRYINDEX, promised);
}

void machine::close_objects() {
  std::vector<std::shared_ptr<object>> all;
  all.reserve(objects_.size());
  for (auto* const each : objects_) all.push_back(each->shared_from_this());
  for (const auto& each : all) each->close();
}

}  // namespace strata::script
