#include "script/value_view.hpp"

#include "script/lua.hpp"

namespace strata::script {

namespace {

// Room for a key, a value and what converts them.
constexpr int room = 4;

}  // namespace

value_view::value_view(lua_State* state, int index)
    : in_(state),
      index_(index > 0 || index <= LUA_REGISTRYINDEX ? index : lua_gettop(state) + index + 1) {}

value_view::kind value_view::what() const {
  switch (lua_type(in_, index_)) {
    case LUA_TNONE:
    case LUA_TNIL: return kind::nil;
    case LUA_TBOOLEAN: return kind::boolean;
    case LUA_TNUMBER: return kind::number;
    case LUA_TSTRING: return kind::text;
    case LUA_TTABLE: return kind::table;
    default: return kind::other;
  }
}

bool value_view::truth() const { return lua_toboolean(in_, index_) != 0; }

bool value_view::is_numeric() const { return lua_isnumber(in_, index_) != 0; }

double value_view::number() const { return lua_tonumber(in_, index_); }

std::string_view value_view::text() const {
  std::size_t size = 0;
  const char* const text = lua_tolstring(in_, index_, &size);
  return text == nullptr ? std::string_view() : std::string_view(text, size);
}

std::string_view value_view::type_name() const { return lua_typename(in_, lua_type(in_, index_)); }

bool value_view::with_field(std::string_view name,
                            const std::function<bool(value_view)>& take) const {
  luaL_checkstack(in_, room, "to read a table");
  lua_pushlstring(in_, name.data(), name.size());
  lua_rawget(in_, index_);
  const bool is_taken = take({in_, -1});
  lua_pop(in_, 1);
  return is_taken;
}

bool value_view::with_element(int place, const std::function<bool(value_view)>& take) const {
  luaL_checkstack(in_, room, "to read a table");
  lua_rawgeti(in_, index_, place);
  const bool is_taken = take({in_, -1});
  lua_pop(in_, 1);
  return is_taken;
}

std::size_t value_view::list_size() const {
  luaL_checkstack(in_, room, "to read a table");
  int place = 1;
  for (;; ++place) {
    lua_rawgeti(in_, index_, place);
    const bool is_end = lua_isnil(in_, -1);
    lua_pop(in_, 1);
    if (is_end) return static_cast<std::size_t>(place - 1);
  }
}

bool value_view::each_field(const std::function<bool(value_view, value_view)>& take) const {
  luaL_checkstack(in_, room, "to read a table");
  for (lua_pushnil(in_); lua_next(in_, index_) != 0; lua_pop(in_, 1)) {
    if (take({in_, -2}, {in_, -1})) continue;
    lua_pop(in_, 2);
    return false;
  }
  return true;
}

}  // namespace strata::script
