#include "script/conversion.hpp"

#include <fmt/format.h>

#include <cmath>

#include "script/lua.hpp"

namespace strata::script {

namespace {

// Their addresses are keys in the registry.
const char array_mark = 0;
const char null_mark = 0;

void push_mark(lua_State* state, const char& mark) {
  lua_pushlightuserdata(state, const_cast<char*>(&mark));
}

class reader {
 public:
  reader(lua_State* state, std::string& why) : from_(state), why_(why) {}

  bool read(int index, nlohmann::json& value, int depth) {
    if (++values_ > most_values) return fail(fmt::format("more than {} values", most_values));
    switch (lua_type(from_, index)) {
      case LUA_TNONE:
      case LUA_TNIL: value = nullptr; return true;
      case LUA_TBOOLEAN: value = lua_toboolean(from_, index) != 0; return true;
      case LUA_TNUMBER: return read_number(lua_tonumber(from_, index), value);
      case LUA_TSTRING: value = text_at(index); return true;
      case LUA_TLIGHTUSERDATA:
        if (lua_touserdata(from_, index) == &null_mark) {
          value = nullptr;
          return true;
        }
        break;
      case LUA_TTABLE:
        if (depth == most_depth) return fail(fmt::format("tables nested {} deep", most_depth + 1));
        return read_table(index, value, depth);
      default: break;
    }
    return fail(fmt::format("a {}", lua_typename(from_, lua_type(from_, index))));
  }

 private:
  bool fail(std::string text) {
    why_ = "it holds " + std::move(text);
    return false;
  }

  [[nodiscard]] std::string text_at(int index) const {
    std::size_t size = 0;
    const char* const text = lua_tolstring(from_, index, &size);
    return {text, size};
  }

  bool read_number(double number, nlohmann::json& value) {
    constexpr double exact = 9007199254740992.0;  // 2^53
    if (!std::isfinite(number)) return fail("a number that JSON cannot represent: inf or nan");
    if (std::trunc(number) == number && std::abs(number) <= exact) {
      value = static_cast<std::int64_t>(number);
    } else {
      value = number;
    }
    return true;
  }

  [[nodiscard]] bool is_marked(int index) const {
    if (lua_getmetatable(from_, index) == 0) return false;
    push_mark(from_, array_mark);
    lua_rawget(from_, LUA_REGISTRYINDEX);
    const bool same = lua_rawequal(from_, -1, -2) != 0;
    lua_pop(from_, 2);
    return same;
  }

  bool read_table(int index, nlohmann::json& value, int depth) {
    luaL_checkstack(from_, 8, "to read a table");
    if (index < 0) index = lua_gettop(from_) + index + 1;
    const auto length = lua_objlen(from_, index);
    if (length != 0 || is_marked(index)) return read_array(index, length, value, depth);
    value = nlohmann::json::object();
    for (lua_pushnil(from_); lua_next(from_, index) != 0; lua_pop(from_, 1)) {
      if (lua_type(from_, -2) != LUA_TSTRING) {
        return fail(fmt::format("a key that is a {}", lua_typename(from_, lua_type(from_, -2))));
      }
      if (!read(-1, value[text_at(-2)], depth + 1)) return false;
    }
    return true;
  }

  bool read_array(int index, std::size_t length, nlohmann::json& value, int depth) {
    value = nlohmann::json::array();
    std::size_t found = 0;
    for (lua_pushnil(from_); lua_next(from_, index) != 0; lua_pop(from_, 1)) ++found;
    if (found != length) return fail("a table that is neither a list nor has only names as keys");
    for (std::size_t at = 1; at <= length; ++at) {
      lua_rawgeti(from_, index, static_cast<int>(at));
      value.emplace_back();
      if (!read(-1, value.back(), depth + 1)) return false;
      lua_pop(from_, 1);
    }
    return true;
  }

  lua_State* from_;
  std::string& why_;
  std::size_t values_ = 0;
};

void push_within(lua_State* state, const nlohmann::json& value, int depth);

void push_container(lua_State* state, const nlohmann::json& value, int depth) {
  luaL_checkstack(state, 8, "to make a table");
  const auto size = static_cast<int>(value.size());
  if (value.is_array()) {
    lua_createtable(state, size, 0);
    int at = 0;
    for (const auto& each : value) {
      push_within(state, each, depth + 1);
      lua_rawseti(state, -2, ++at);
    }
    mark_array(state);
    return;
  }
  lua_createtable(state, 0, size);
  for (const auto& [key, each] : value.items()) {
    lua_pushlstring(state, key.data(), key.size());
    push_within(state, each, depth + 1);
    lua_rawset(state, -3);
  }
}

void push_within(lua_State* state, const nlohmann::json& value, int depth) {
  if (value.is_structured()) {
    if (depth > most_depth) luaL_error(state, "values nested more than %d deep", most_depth);
    push_container(state, value, depth);
  } else if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    lua_pushlstring(state, text.data(), text.size());
  } else if (value.is_boolean()) {
    lua_pushboolean(state, value.get<bool>() ? 1 : 0);
  } else if (value.is_number()) {
    lua_pushnumber(state, value.get<double>());
  } else if (depth > 0) {
    push_null(state);
  } else {
    lua_pushnil(state);
  }
}

}  // namespace

void prepare_conversion(lua_State* state) {
  push_mark(state, array_mark);
  lua_newtable(state);
  lua_rawset(state, LUA_REGISTRYINDEX);
}

void push_json(lua_State* state, const nlohmann::json& value) {
  luaL_checkstack(state, 2, "to make a value");
  push_within(state, value, 0);
}

bool read_json(lua_State* state, int index, nlohmann::json& value, std::string& why) {
  const int top = lua_gettop(state);
  const bool is_read = reader(state, why).read(index, value, 0);
  lua_settop(state, top);
  return is_read;
}

void mark_array(lua_State* state) {
  push_mark(state, array_mark);
  lua_rawget(state, LUA_REGISTRYINDEX);
  lua_setmetatable(state, -2);
}

void push_null(lua_State* state) { push_mark(state, null_mark); }

}  // namespace strata::script
