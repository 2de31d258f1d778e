#include "script/sandbox.hpp"

#include <sys/random.h>

#include <string_view>

#include "script/libraries/patterns.hpp"
#include "script/libraries/sorting.hpp"
#include "script/lua.hpp"
#include "script/machine.hpp"
#include "script/module_folders.hpp"
#include "script/source.hpp"

namespace strata::script {

namespace {

const char mark = 0;

// Run once in each machine. Scripts cannot intercept the end of a handler whose time is over, or
// the program's awaiting: pcall and coroutines pass both on.
constexpr std::string_view wrappers = R"lua(
local check, check_stack, expect_much, is_stopped, mark, find_module, write, is_unsafe = ...
local raw_pcall, raw_xpcall, raw_load, raw_loadstring = pcall, xpcall, load, loadstring
local raw_collect = collectgarbage
local raw_resume, yield, create = coroutine.resume, coroutine.yield, coroutine.create
local error, select, type, tostring, concat = error, select, type, tostring, table.concat

local function passed(ok, ...)
  if not ok then check() end
  return ok, ...
end
function pcall(...) return passed(raw_pcall(...)) end
-- Where a handler is stopped no function of its own may run: nothing would stop that one.
function xpcall(body, handler, ...)
  return passed(raw_xpcall(body, function(why)
    if is_stopped() then return why end
    return handler(why)
  end, ...))
end

local function resume(...)
  check_stack()
  return raw_resume(...)
end
local function went(co, ok, ...)
  if not ok then check()
  elseif (...) == mark then return went(co, resume(co, yield(mark))) end
  return ok, ...
end
function coroutine.resume(co, ...) return went(co, resume(co, ...)) end

local function unwrapped(ok, ...)
  if ok then return ... end
  error((...), 0)
end
function coroutine.wrap(body)
  local co = create(body)
  return function(...) return unwrapped(went(co, resume(co, ...))) end
end

function collectgarbage(what, ...)
  if what ~= 'count' then expect_much() end
  return raw_collect(what, ...)
end

function print(...)
  local texts = {}
  for at = 1, select('#', ...) do texts[at] = tostring((select(at, ...))) end
  write(concat(texts, '\t'))
end

if is_unsafe then return end

local longest = 4 * 1024 * 1024
local function text_of(chunk)
  if type(chunk) == 'function' then
    local pieces, size = {}, 0
    for piece in chunk do
      if piece == '' then break end
      pieces[#pieces + 1] = piece
      size = size + #piece
      if size > longest then return nil, 'the chunk is longer than 4 MiB' end
    end
    return concat(pieces)
  end
  if type(chunk) ~= 'string' then return nil, 'the chunk is no text' end
  if #chunk > longest then return nil, 'the chunk is longer than 4 MiB' end
  return chunk
end
function load(chunk, name, _, ...)
  local text, why = text_of(chunk)
  if not text then return nil, why end
  return raw_load(text, name or '=(load)', 't', ...)
end
function loadstring(text, name) return load(text, name or text) end

local loaded = {}
package = { loaded = loaded }
function require(name)
  local got = loaded[name]
  if got ~= nil then return got end
  local text, path = find_module(name)
  local chunk, why = raw_load(text, '@' .. path, 't')
  if not chunk then error(why, 0) end
  loaded[name] = true
  local value = chunk(name)
  if value ~= nil then loaded[name] = value end
  return loaded[name]
end
)lua";

int check(lua_State* state) {
  machine::of(state).limits().check_time(state);
  return 0;
}

int check_stack(lua_State* state) {
  machine::of(state).limits().check_stack(state);
  return 0;
}

int expect_much(lua_State* state) {
  machine::of(state).limits().expect_much();
  return 0;
}

int is_stopped(lua_State* state) {
  lua_pushboolean(state, machine::of(state).limits().is_stopped() ? 1 : 0);
  return 1;
}

int write(lua_State* state) {
  std::size_t size = 0;
  const char* const text = luaL_checklstring(state, 1, &size);
  machine::of(state).watched_by().on_print({text, size});
  return 0;
}

int find_module(lua_State* state) {
  std::size_t size = 0;
  const char* const name = luaL_checklstring(state, 1, &size);
  const auto& machine = machine::of(state);
  const auto found = module_folders(machine.file(), machine.how().libraries).find({name, size});
  if (!found) return luaL_error(state, "%s", describe(found.error()).c_str());
  lua_pushlstring(state, found->text.data(), found->text.size());
  lua_pushlstring(state, found->path.data(), found->path.size());
  return 2;
}

void open(lua_State* state, const char* name, lua_CFunction function) {
  lua_pushcfunction(state, function);
  lua_pushstring(state, name);
  lua_call(state, 1, 0);
}

void forget(lua_State* state, const char* table, std::initializer_list<const char*> names) {
  lua_getglobal(state, table);
  for (const char* const name : names) {
    lua_pushnil(state);
    lua_setfield(state, -2, name);
  }
  lua_pop(state, 1);
}

void open_safe(lua_State* state) {
  open(state, "", luaopen_base);
  open(state, LUA_TABLIBNAME, luaopen_table);
  open(state, LUA_STRLIBNAME, luaopen_string);
  open(state, LUA_MATHLIBNAME, luaopen_math);
  open(state, LUA_OSLIBNAME, luaopen_os);
  open(state, LUA_BITLIBNAME, luaopen_bit);
  forget(state, LUA_OSLIBNAME,
         {"execute", "exit", "remove", "rename", "tmpname", "getenv", "setlocale"});
  forget(state, LUA_STRLIBNAME, {"dump"});
  forget(state, "_G", {"dofile", "loadfile", "newproxy", "gcinfo", "getfenv", "setfenv"});
  // All scripts reach the string functions through the metatable of strings, so it must not change.
  lua_pushliteral(state, "");
  lua_getmetatable(state, -1);
  lua_pushboolean(state, 0);
  lua_setfield(state, -2, "__metatable");
  lua_pop(state, 2);
}

// Seeds the random numbers: LuaJIT's begin with the same value in each process.
void sow(lua_State* state) {
  unsigned seed = 0;
  if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) < 0) seed = 1;
  lua_getglobal(state, "math");
  lua_getfield(state, -1, "randomseed");
  lua_pushnumber(state, seed);
  lua_call(state, 1, 0);
  lua_pop(state, 1);
}

}  // namespace

void* await_mark() { return const_cast<char*>(&mark); }

void open_libraries(lua_State* state, bool is_unsafe) {
  if (is_unsafe) {
    luaL_openlibs(state);
  } else {
    open_safe(state);
  }
  open_patterns(state);
  open_sorting(state);
  sow(state);
  if (luaL_loadbuffer(state, wrappers.data(), wrappers.size(), "=strata") != 0) lua_error(state);
  lua_pushcfunction(state, check);
  lua_pushcfunction(state, check_stack);
  lua_pushcfunction(state, expect_much);
  lua_pushcfunction(state, is_stopped);
  lua_pushlightuserdata(state, await_mark());
  lua_pushcfunction(state, find_module);
  lua_pushcfunction(state, write);
  lua_pushboolean(state, is_unsafe ? 1 : 0);
  lua_call(state, 8, 0);
}

}  // namespace strata::script
