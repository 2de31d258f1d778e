#include "script/conversion.hpp"

#include <fmt/format.h>

#include <cmath>

#include "script/lua.hpp"

namespace strata::script {

namespace {

// Their addresses are keys of the registry.
const char array_mark = 0;
const char null_mark = 0;

void push_mark(lua_State* in, const char& mark) {
  lua_pushlightuserdata(in, const_cast<char*>(&mark));
}

class reader {
 public:
  reader(lua_State* from, std::string& why) : from_(from), why_(why) {}

  bool read(int index, nlohmann::json& into, int depth) {
    if (++values_ > most_values) return fail(fmt::format("more than {} values", most_values));
    switch (lua_type(from_, index)) {
      case LUA_TNONE:
      case LUA_TNIL: into = nullptr; return true;
      case LUA_TBOOLEAN: into = lua_toboolean(from_, index) != 0; return true;
      case LUA_TNUMBER: return read_number(lua_tonumber(from_, index), into);
      case LUA_TSTRING: into = text_at(index); return true;
      case LUA_TLIGHTUSERDATA:
        if (lua_touserdata(from_, index) == &null_mark) {
          into = nullptr;
          return true;
        }
        break;
      case LUA_TTABLE:
        if (depth == most_depth) return fail(fmt::format("tables nested {} deep", most_depth + 1));
        return read_table(index, into, depth);
      default: break;
    }
    return fail(fmt::format("a {}", lua_typename(from_, lua_type(from_, index))));
  }

 private:
  bool fail(std::string what) {
    why_ = "it holds " + std::move(what);
    return false;
  }

  [[nodiscard]] std::string text_at(int index) const {
    std::size_t size = 0;
    const char* const text = lua_tolstring(from_, index, &size);
    return {text, size};
  }

  bool read_number(double number, nlohmann::json& into) {
    constexpr double exact = 9007199254740992.0;  // 2^53
    if (!std::isfinite(number)) return fail("a number that JSON has not: inf or nan");
    if (std::trunc(number) == number && std::abs(number) <= exact) {
      into = static_cast<std::int64_t>(number);
    } else {
      into = number;
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

  bool read_table(int index, nlohmann::json& into, int depth) {
    luaL_checkstack(from_, 8, "to read a table");
    if (index < 0) index = lua_gettop(from_) + index + 1;
    const auto length = lua_objlen(from_, index);
    if (length != 0 || is_marked(index)) return read_array(index, length, into, depth);
    into = nlohmann::json::object();
    for (lua_pushnil(from_); lua_next(from_, index) != 0; lua_pop(from_, 1)) {
      if (lua_type(from_, -2) != LUA_TSTRING) {
        return fail(fmt::format("a key that is a {}", lua_typename(from_, lua_type(from_, -2))));
      }
      if (!read(-1, into[text_at(-2)], depth + 1)) return false;
    }
    return true;
  }

  bool read_array(int index, std::size_t length, nlohmann::json& into, int depth) {
    into = nlohmann::json::array();
    std::size_t found = 0;
    for (lua_pushnil(from_); lua_next(from_, index) != 0; lua_pop(from_, 1)) ++found;
    if (found != length) return fail("a table that is neither a list nor one of names alone");
    for (std::size_t at = 1; at <= length; ++at) {
      lua_rawgeti(from_, index, static_cast<int>(at));
      into.emplace_back();
      if (!read(-1, into.back(), depth + 1)) return false;
      lua_pop(from_, 1);
    }
    return true;
  }

  lua_State* from_;
  std::string& why_;
  std::size_t values_ = 0;
};

void push_within(lua_State* to, const nlohmann::json& value, int depth);

void push_container(lua_State* to, const nlohmann::json& value, int depth) {
  luaL_checkstack(to, 8, "to make a table");
  const auto size = static_cast<int>(value.size());
  if (value.is_array()) {
    lua_createtable(to, size, 0);
    int at = 0;
    for (const auto& each : value) {
      push_within(to, each, depth + 1);
      lua_rawseti(to, -2, ++at);
    }
    mark_array(to);
    return;
  }
  lua_createtable(to, 0, size);
  for (const auto& [key, each] : value.items()) {
    lua_pushlstring(to, key.data(), key.size());
    push_within(to, each, depth + 1);
    lua_rawset(to, -3);
  }
}

void push_within(lua_State* to, const nlohmann::json& value, int depth) {
  if (value.is_structured()) {
    if (depth > most_depth) luaL_error(to, "values nested more than %d deep", most_depth);
    push_container(to, value, depth);
  } else if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    lua_pushlstring(to, text.data(), text.size());
  } else if (value.is_boolean()) {
    lua_pushboolean(to, value.get<bool>() ? 1 : 0);
  } else if (value.is_number()) {
    lua_pushnumber(to, value.get<double>());
  } else if (depth > 0) {
    push_null(to);
  } else {
    lua_pushnil(to);
  }
}

}  // namespace

void prepare_conversion(lua_State* in) {
  push_mark(in, array_mark);
  lua_newtable(in);
  lua_rawset(in, LUA_REGISTRYINDEX);
}

void push_json(lua_State* to, const nlohmann::json& value) {
  luaL_checkstack(to, 2, "to make a value");
  push_within(to, value, 0);
}

bool read_json(lua_State* from, int index, nlohmann::json& into, std::string& why) {
  const int top = lua_gettop(from);
  const bool is_read = reader(from, why).read(index, into, 0);
  lua_settop(from, top);
  return is_read;
}

void mark_array(lua_State* in) {
  push_mark(in, array_mark);
  lua_rawget(in, LUA_REGISTRYINDEX);
  lua_setmetatable(in, -2);
}

void push_null(lua_State* to) { push_mark(to, null_mark); }

}  // namespace strata::script
