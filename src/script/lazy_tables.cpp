#include "script/lazy_tables.hpp"

#include <nlohmann/json.hpp>

#include "script/conversion.hpp"
#include "script/lua.hpp"
#include "script/machine.hpp"

namespace strata::script {

void text_table::begin(std::size_t count) { lua_createtable(to_, 0, static_cast<int>(count)); }

void text_table::add(std::string_view name, std::string_view value) {
  lua_pushlstring(to_, name.data(), name.size());
  lua_pushlstring(to_, value.data(), value.size());
  lua_rawset(to_, -3);
}

lazy_table::~lazy_table() {
  if (holder_ != nullptr) holder_->forget(*this);
}

// (table, key) -> the field, which the table holds from then on.
int lazy_tables::read_field(lua_State* state) {
  const auto& known = machine::of(state).tables().all_;
  const auto found = known.find(lua_topointer(state, 1));
  if (found == known.end() || lua_type(state, 2) != LUA_TSTRING) return 0;
  std::size_t size = 0;
  const char* const name = lua_tolstring(state, 2, &size);
  luaL_checkstack(state, 8, "to read a field");
  text_table texts(state);
  if (!found->second->give_texts({name, size}, texts)) {
    const auto value = found->second->field({name, size});
    if (value.is_null()) return 0;
    push_json(state, value);
  }
  lua_pushvalue(state, 2);
  lua_pushvalue(state, -2);
  lua_rawset(state, 1);
  return 1;
}

// One metatable for all: a table is identified by its address, which does not change while the
// registry holds it.
void lazy_tables::open(lua_State* state) {
  state_ = state;
  lua_createtable(state, 0, 2);
  lua_pushcfunction(state, read_field);
  lua_setfield(state, -2, "__index");
  lua_pushboolean(state, 0);
  lua_setfield(state, -2, "__metatable");  // so that no script changes it for all others
  metatable_ = luaL_ref(state, LUA_REGISTRYINDEX);
}

void lazy_tables::push(lua_State* state, lazy_table& table) {
  if (table.holder_ == this) {
    lua_rawgeti(state, LUA_REGISTRYINDEX, table.reference_);
    return;
  }
  if (table.holder_ != nullptr) table.holder_->forget(table);
  table.holder_ = this;
  lua_createtable(state, 0, 4);
  table.address_ = lua_topointer(state, -1);
  all_.emplace(table.address_, &table);
  lua_rawgeti(state, LUA_REGISTRYINDEX, metatable_);
  lua_setmetatable(state, -2);
  lua_pushvalue(state, -1);
  table.reference_ = luaL_ref(state, LUA_REGISTRYINDEX);
}

void lazy_tables::forget(lazy_table& table) {
  all_.erase(table.address_);
  luaL_unref(state_, LUA_REGISTRYINDEX, table.reference_);
  table.holder_ = nullptr;
}

void lazy_tables::clear() {
  for (const auto& [address, table] : all_) table->holder_ = nullptr;
  all_.clear();
}

}  // namespace strata::script
