#include "script/value_writer.hpp"

#include "script/call.hpp"
#include "script/lua.hpp"

namespace strata::script {

namespace {

void make_room(lua_State* state) { luaL_checkstack(state, 4, "to make a value"); }

}  // namespace

void value_writer::nil() {
  make_room(in_);
  lua_pushnil(in_);
}

void value_writer::boolean(bool value) {
  make_room(in_);
  lua_pushboolean(in_, value ? 1 : 0);
}

void value_writer::number(double value) {
  make_room(in_);
  lua_pushnumber(in_, value);
}

void value_writer::text(std::string_view value) {
  make_room(in_);
  lua_pushlstring(in_, value.data(), value.size());
}

void value_writer::kept(const value_ref& value) {
  make_room(in_);
  lua_rawgeti(in_, LUA_REGISTRYINDEX, value.reference());
}

void value_writer::begin_list(std::size_t size) {
  make_room(in_);
  lua_createtable(in_, static_cast<int>(size), 0);
}

void value_writer::element(std::size_t place) { lua_rawseti(in_, -2, static_cast<int>(place)); }

void value_writer::begin_table(std::size_t size) {
  make_room(in_);
  lua_createtable(in_, 0, static_cast<int>(size));
}

void value_writer::field(std::string_view name) {
  make_room(in_);
  lua_pushlstring(in_, name.data(), name.size());
  lua_insert(in_, -2);
  lua_rawset(in_, -3);
}

void value_writer::pair() {
  const bool is_number = lua_type(in_, -2) == LUA_TNUMBER;
  const bool is_key =
      !lua_isnil(in_, -2) && (!is_number || lua_tonumber(in_, -2) == lua_tonumber(in_, -2));
  if (is_key) {
    lua_rawset(in_, -3);
  } else {
    lua_pop(in_, 2);
  }
}

}  // namespace strata::script
