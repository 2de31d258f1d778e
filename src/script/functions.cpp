// Calls of the program's functions by a script.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <iterator>
#include <utility>

#include "script/lua.hpp"
#include "script/machine.hpp"
#include "script/machine_parts.hpp"
#include "script/sandbox.hpp"

namespace strata::script {

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
    case value_kind::number: return type == LUA_TNUMBER;
    case value_kind::integer: return type == LUA_TNUMBER && is_whole(lua_tonumber(state, index));
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

}  // namespace

bool machine::check_arguments(lua_State* state, const bound_function& function) {
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

int machine::dispatch(lua_State* state) {
  const auto& to = *static_cast<const bound_function*>(lua_touserdata(state, lua_upvalueindex(1)));
  return invoke(state, to, to.host);
}

int machine::invoke(lua_State* state, const bound_function& function, void* host) {
  auto& here = machine::of(state);
  here.check_stack(state);
  if (const auto word = missing_right(here.settings_, function.row->needs); !word.empty()) {
    return luaL_error(state,
                      "%s: the script lacks the right to call it: run the script with "
                      "--lua-allow %s",
                      function.shown_name.c_str(), std::string(word).c_str());
  }
  if (check_arguments(state, function)) here.expect_much();
  call with(here, state, function.row->name, function.parameters);
  if (function.row->run != nullptr) {
    run_guarded(with, [&] { function.row->run(host, with); });
  } else {
    if (here.waiting_ >= here.settings_.most_waiting) {
      return luaL_error(state, "%s: %d handlers already wait", function.shown_name.c_str(),
                        static_cast<int>(here.waiting_));
    }
    run_guarded(with, [&] { here.pending_ = function.row->wait(host, with); });
    here.is_pending_ = true;
    if (with.failure().empty() && with.given() > 0)
      here.promised_ = luaL_ref(state, LUA_REGISTRYINDEX);
  }
  if (!with.failure().empty()) {
    here.is_pending_ = false;
    here.pending_ = {};
    here.forget(std::exchange(here.promised_, 0));
    return luaL_error(state, "%s: %s", function.shown_name.c_str(), with.failure().c_str());
  }
  if (function.row->run != nullptr) return with.given();
  lua_settop(state, 0);
  lua_pushlightuserdata(state, await_mark());
  return lua_yield(state, 1);
}

void machine::add(const library& table, void* host) {
  const std::string name(table.name);
  lua_getglobal(state_, name.c_str());
  if (lua_isnil(state_, -1)) {
    lua_pop(state_, 1);
    lua_newtable(state_);
    lua_pushvalue(state_, -1);
    lua_setglobal(state_, name.c_str());
  }
  for (const auto& row : table.functions) {
    if (row.run == nullptr && row.wait == nullptr) continue;
    auto bound = std::make_unique<bound_function>(bound_function{
        &row, parse_parameters(row.parameters), name + "." + std::string(row.name), host});
    const auto dot = row.name.find('.');
    const std::string last(row.name.substr(dot == std::string_view::npos ? 0 : dot + 1));
    if (dot != std::string_view::npos) {
      const std::string inner(row.name.substr(0, dot));
      lua_getfield(state_, -1, inner.c_str());
      if (lua_isnil(state_, -1)) {
        lua_pop(state_, 1);
        lua_newtable(state_);
        lua_pushvalue(state_, -1);
        lua_setfield(state_, -3, inner.c_str());
      }
    }
    lua_pushlightuserdata(state_, bound.get());
    lua_pushcclosure(state_, dispatch, 1);
    lua_setfield(state_, -2, last.c_str());
    if (dot != std::string_view::npos) lua_pop(state_, 1);
    functions_.push_back(std::move(bound));
  }
  lua_pop(state_, 1);
}

std::uint64_t machine::arm(loop::duration after, bool repeats, value_ref function) {
  if (timers_.size() >= settings_.most_waiting) return 0;
  const auto id = ++last_timer_;
  auto made = std::make_unique<script_timer>(*this, id, after, repeats, std::move(function));
  loop_.arm_after(*made, after);
  timers_.emplace(id, std::move(made));
  return id;
}

void machine::retire() {
  is_retired_ = true;
  timers_.clear();
  close_objects();
}

void machine::disarm(std::uint64_t timer) { timers_.erase(timer); }

}  // namespace strata::script
