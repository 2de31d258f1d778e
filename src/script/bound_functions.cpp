#include "script/bound_functions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <iterator>
#include <utility>

#include "script/held_objects.hpp"
#include "script/lua.hpp"
#include "script/machine.hpp"
#include "script/sandbox.hpp"

namespace strata::script {

struct bound_function {
  const function_row* row;
  std::vector<parameter> parameters;
  std::string shown_name;  // `self.send`
  void* host;
  const object_kind* kind = nullptr;  // of a method
};

namespace {

bool is_whole(double value) {
  constexpr double exact = 9007199254740992.0;  // 2^53
  return value >= 0 && value <= exact && std::trunc(value) == value;
}

struct kind_row {
  value_kind kind;
  std::string_view described;
};

constexpr kind_row kind_names[] = {
    {value_kind::boolean, "true or false"},
    {value_kind::number, "a number"},
    {value_kind::integer, "a whole number from 0"},
    {value_kind::string, "a string"},
    {value_kind::table, "a table"},
    {value_kind::function, "a function"},
};

bool fits(lua_State* state, int index, value_kind kind) {
  const int type = lua_type(state, index);
  switch (kind) {
    case value_kind::any: return type != LUA_TNONE;
    case value_kind::boolean: return type == LUA_TBOOLEAN;
    // As for Lua's own functions, a text may be a number.
    case value_kind::number: return lua_isnumber(state, index) != 0;
    case value_kind::integer:
      return lua_isnumber(state, index) != 0 && is_whole(lua_tonumber(state, index));
    case value_kind::string: return type == LUA_TSTRING || type == LUA_TNUMBER;
    case value_kind::table: return type == LUA_TTABLE;
    case value_kind::function: return type == LUA_TFUNCTION;
  }
  return false;
}

// Reports whether a value may be large. For a table, only the length of its list is known.
bool may_be_much(lua_State* state, int index) {
  constexpr std::size_t value_size = 16;
  const int type = lua_type(state, index);
  if (type == LUA_TTABLE) return lua_objlen(state, index) >= much_at_once / value_size;
  return type == LUA_TSTRING && lua_objlen(state, index) >= much_at_once;
}

std::string_view described(value_kind kind) {
  const auto* const row = std::ranges::find(kind_names, kind, &kind_row::kind);
  return row == std::end(kind_names) ? "a value" : row->described;
}

// Returns the missing word of --lua-allow; empty if none is missing.
std::string_view missing_right(const settings& settings, right needed) {
  if (needed == right::net && !settings.may_use_net) return "net";
  if (needed == right::runtimes && !settings.may_change_runtimes) return "runtimes";
  return {};
}

// No C++ exception may cross LuaJIT's frames: it becomes an error of the call. Lua's own errors are
// not derived from std::exception, and pass.
template <class Work>
void run_guarded(call& call, Work work) {
  try {
    work();
  } catch (const std::exception& thrown) {
    call.fail(fmt::format("its arguments cannot be used: {}", thrown.what()));
  }
}

// Reports whether the arguments are so large that the function may take long.
bool check_arguments(lua_State* state, const bound_function& function) {
  const int given = lua_gettop(state);
  bool is_much = false;
  int at = 0;
  for (const auto& each : function.parameters) {
    ++at;
    if (each.name == "...") return is_much;
    if (at <= given && fits(state, at, each.kind)) {
      is_much = is_much || may_be_much(state, at);
      continue;
    }
    if (each.is_optional && lua_isnoneornil(state, at)) continue;
    const auto said = fmt::format(
        "{}: argument {} ({}) is {}, it must be {}", function.shown_name, at, each.name,
        at > given ? "missing" : lua_typename(state, lua_type(state, at)), described(each.kind));
    luaL_error(state, "%s", said.c_str());
  }
  if (given > at) {
    luaL_error(state, "%s: got %d arguments, it takes %d", function.shown_name.c_str(), given, at);
  }
  return is_much;
}

int invoke(lua_State* state, const bound_function& function, void* host) {
  auto& machine = machine::of(state);
  machine.limits().check_stack(state);
  if (const auto word = missing_right(machine.how(), function.row->needs); !word.empty()) {
    return luaL_error(state,
                      "%s: the script lacks the right to call it: run the script with "
                      "--lua-allow %s",
                      function.shown_name.c_str(), std::string(word).c_str());
  }
  if (check_arguments(state, function)) machine.limits().expect_much();
  call with(machine, state, function.row->name, function.parameters);
  if (function.row->run != nullptr) {
    run_guarded(with, [&] { function.row->run(host, with); });
  } else {
    if (machine.waiting() >= machine.how().most_waiting) {
      return luaL_error(state, "%s: %d handlers already wait", function.shown_name.c_str(),
                        static_cast<int>(machine.waiting()));
    }
    auto& pending = machine.pending();
    run_guarded(with, [&] { pending.work = function.row->wait(host, with); });
    pending.is_there = true;
    if (with.failure().empty() && with.given() > 0) {
      pending.object = {machine.state(), luaL_ref(state, LUA_REGISTRYINDEX)};
    }
  }
  if (!with.failure().empty()) {
    machine.pending() = {};
    return luaL_error(state, "%s: %s", function.shown_name.c_str(), with.failure().c_str());
  }
  if (with.is_raised()) return lua_error(state);
  if (function.row->run != nullptr) return with.given();
  lua_settop(state, 0);
  lua_pushlightuserdata(state, await_mark());
  return lua_yield(state, 1);
}

int dispatch(lua_State* state) {
  const auto& to = *static_cast<const bound_function*>(lua_touserdata(state, lua_upvalueindex(1)));
  return invoke(state, to, to.host);
}

// The first argument is the object; the method gets the others.
int dispatch_method(lua_State* state) {
  const auto& to = *static_cast<const bound_function*>(lua_touserdata(state, lua_upvalueindex(1)));
  const auto held = held_objects::first_argument(state, *to.kind);
  if (held.owner == nullptr) {
    return luaL_error(state, "%s: called without its object: write a colon before its name",
                      to.shown_name.c_str());
  }
  lua_remove(state, 1);
  return invoke(state, to, held.self);
}

}  // namespace

bound_functions::bound_functions() = default;

bound_functions::~bound_functions() = default;

void bound_functions::add(lua_State* state, const library& table, void* host) {
  const std::string name(table.name);
  lua_getglobal(state, name.c_str());
  if (lua_isnil(state, -1)) {
    lua_pop(state, 1);
    lua_newtable(state);
    lua_pushvalue(state, -1);
    lua_setglobal(state, name.c_str());
  }
  for (const auto& row : table.functions) {
    if (row.run == nullptr && row.wait == nullptr) continue;
    auto bound = std::make_unique<bound_function>(bound_function{
        &row, parse_parameters(row.parameters), name + "." + std::string(row.name), host});
    const auto dot = row.name.find('.');
    const std::string last(row.name.substr(dot == std::string_view::npos ? 0 : dot + 1));
    if (dot != std::string_view::npos) {
      const std::string inner(row.name.substr(0, dot));
      lua_getfield(state, -1, inner.c_str());
      if (lua_isnil(state, -1)) {
        lua_pop(state, 1);
        lua_newtable(state);
        lua_pushvalue(state, -1);
        lua_setfield(state, -3, inner.c_str());
      }
    }
    lua_pushlightuserdata(state, bound.get());
    lua_pushcclosure(state, dispatch, 1);
    lua_setfield(state, -2, last.c_str());
    if (dot != std::string_view::npos) lua_pop(state, 1);
    all_.push_back(std::move(bound));
  }
  lua_pop(state, 1);
}

void bound_functions::add_kind(lua_State* state, const object_kind& kind) {
  lua_newtable(state);
  for (const auto& row : kind.methods) {
    auto bound = std::make_unique<bound_function>(
        bound_function{&row, parse_parameters(row.parameters),
                       std::string(kind.name) + ":" + std::string(row.name), nullptr, &kind});
    lua_pushlightuserdata(state, bound.get());
    lua_pushcclosure(state, dispatch_method, 1);
    lua_setfield(state, -2, std::string(row.name).c_str());
    all_.push_back(std::move(bound));
  }
  held_objects::add_kind(state, kind);
}

}  // namespace strata::script
