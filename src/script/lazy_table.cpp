#include "script/lazy_table.hpp"

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
  if (in_ != nullptr) in_->forget(*this);
}

// (table, key) -> the field, which the table holds from then on.
int machine::read_lazily(lua_State* state) {
  const auto& known = of(state).lazy_tables_;
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
void machine::make_lazily() {
  lua_createtable(state_, 0, 2);
  lua_pushcfunction(state_, read_lazily);
  lua_setfield(state_, -2, "__index");
  lua_pushboolean(state_, 0);
  lua_setfield(state_, -2, "__metatable");  // so that no script changes it for all others
  lazily_ = luaL_ref(state_, LUA_REGISTRYINDEX);
}

void machine::push_lazy(lua_State* state, lazy_table& table) {
  if (table.in_ == this) {
    lua_rawgeti(state, LUA_REGISTRYINDEX, table.table_);
    return;
  }
  if (table.in_ != nullptr) table.in_->forget(table);
  table.in_ = this;
  lua_createtable(state, 0, 4);
  table.key_ = lua_topointer(state, -1);
  lazy_tables_.emplace(table.key_, &table);
  lua_rawgeti(state, LUA_REGISTRYINDEX, lazily_);
  lua_setmetatable(state, -2);
  lua_pushvalue(state, -1);
  table.table_ = luaL_ref(state, LUA_REGISTRYINDEX);
}

void machine::forget(lazy_table& gone) {
  lazy_tables_.erase(gone.key_);
  luaL_unref(state_, LUA_REGISTRYINDEX, gone.table_);
  gone.in_ = nullptr;
}

}  // namespace strata::script
