#include "runtime/cache/scripting/script_room.hpp"

#include <nlohmann/json.hpp>
#include <string>

#include "runtime/cache/scripting/binary_layout.hpp"
#include "runtime/cache/scripting/message_pack.hpp"
#include "runtime/cache/scripting/script_supervisor.hpp"
#include "script/call.hpp"

namespace strata::runtime::cache {

namespace {

using script::value_writer;

constexpr std::uint64_t most_memory = 256U << 20U;

// What is written in Lua of Redis's libraries, and of Lua 5.1's that LuaJIT lacks.
constexpr std::string_view additions = R"lua(
redis.LOG_DEBUG, redis.LOG_VERBOSE, redis.LOG_NOTICE, redis.LOG_WARNING = 0, 1, 2, 3
redis.REPL_ALL, redis.REPL_AOF, redis.REPL_NONE = 3, 1, 0
redis.REPL_SLAVE, redis.REPL_REPLICA = 2, 2
local wrong_type = 'ERR wrong number or type of arguments'
function redis.status_reply(...)
  local text = ...
  if select('#', ...) ~= 1 or type(text) ~= 'string' then return {err = wrong_type} end
  return {ok = text}
end
function redis.error_reply(...)
  local text = ...
  if select('#', ...) ~= 1 or type(text) ~= 'string' then return {err = wrong_type} end
  if text:sub(1, 1) == '-' then text = text:sub(2) end
  if not text:find(' ', 1, true) then text = 'ERR ' .. text end
  return {err = text}
end
function redis.replicate_commands() return true end
function redis.breakpoint() return false end
function redis.debug() end
local draw, seed, floor, fail = redis.draw, redis.seed, math.floor, error
redis.draw, redis.seed = nil, nil
local most = 2147483647
function math.random(low, high)
  local part = draw() % most / most
  if not low then return part end
  if not high then low, high = 1, low end
  if low > high then fail("bad argument #1 to 'random' (interval is empty)", 2) end
  return floor(part * (high - low + 1)) + low
end
function math.randomseed(number) seed(number) end
coroutine.isyieldable, table.move = nil, nil
cmsgpack._NAME, cmsgpack._VERSION = 'cmsgpack', 'lua-cmsgpack 0.4.0'
cmsgpack._COPYRIGHT = 'Copyright (C) 2012, Salvatore Sanfilippo'
cmsgpack._DESCRIPTION = 'MessagePack C implementation for Lua'
math.mod, string.gfind = math.fmod, string.gmatch
function table.setn() error("'setn' is obsolete", 2) end
)lua";

// How a library registers its functions, in both of Redis's forms. While it is loaded, it has
// nothing else.
constexpr std::string_view registration = R"lua(
local enroll, is_open, raise = loading.enroll, loading.is_open, error
local type, tostring = type, tostring
local function fail(why) raise({err = 'ERR ' .. why}, 0) end
local function register(name, body, flags, description)
  for _, flag in ipairs(flags or {}) do
    local is_word = type(flag) == 'string' and flag:find('^[^,]+$')
    if not is_word then fail('unknown flag given') end
  end
  local why = enroll(name, body, table.concat(flags or {}, ','), description)
  if why then fail(why) end
end
local types = {function_name = 'string', description = 'string', callback = 'function',
               flags = 'table'}
local articles = {string = 'a string', ['function'] = 'a function'}
local function register_named(given)
  for key, value in pairs(given) do
    if not types[key] then fail('unknown argument given to redis.register_function') end
    if type(value) ~= types[key] then
      if key == 'flags' then
        fail('flags argument to redis.register_function must be a table representing function ' ..
             'flags')
      end
      fail(key .. ' argument given to redis.register_function must be ' .. articles[types[key]])
    end
  end
  if not given.function_name then
    fail('redis.register_function must get a function name argument')
  elseif not given.callback then
    fail('redis.register_function must get a callback argument')
  end
  register(given.function_name, given.callback, given.flags, given.description)
end
local function register_function(...)
  if not is_open() then
    fail('redis.register_function can only be called on FUNCTION LOAD command')
  end
  local count, name, body = select('#', ...), ...
  if count < 1 or count > 2 then
    fail('wrong number of arguments to redis.register_function')
  elseif count == 1 then
    if type(name) ~= 'table' then
      fail('calling redis.register_function with a single argument is only applicable to Lua ' ..
           'table (representing named arguments).')
    end
    register_named(name)
  elseif type(name) ~= 'string' and type(name) ~= 'number' then
    fail('first argument to redis.register_function must be a string')
  elseif type(body) ~= 'function' then
    fail('second argument to redis.register_function must be a function')
  else
    register(tostring(name), body)
  end
end
loading_globals = {redis = {register_function = register_function, log = redis.log}}
for name, value in pairs(redis) do
  if name:find('^LOG_') or name:find('^REDIS_VERSION') then
    loading_globals.redis[name] = value
  end
end
)lua";

// Returns the globals of scripts, which they cannot change: they, and the libraries, are read
// through empty tables. Redis has a patched Lua for that.
constexpr std::string_view scripts_globals = R"lua(
local raw_set, set_meta, get_meta, raw_pcall = rawset, setmetatable, getmetatable, pcall
local fail, type, pairs_of, next_of, collect = error, type, pairs, next, collectgarbage
local modified = 'Attempt to modify a readonly table'
local inner_of = {}
local function refuse() fail(modified, 2) end
local closed = set_meta({}, {__newindex = refuse, __metatable = false})
inner_of[closed] = closed
local function read_only(inner)
  local outer = set_meta({}, {__index = inner, __newindex = refuse, __metatable = closed})
  inner_of[outer] = inner
  return outer
end
-- The error of a command is its text for the script that catches it.
local function passed(ok, why, ...)
  if not ok and type(why) == 'table' and type(why.err) == 'string' then why = why.err end
  return ok, why, ...
end

local inside = {}
for _, name in pairs_of({'_VERSION', 'assert', 'collectgarbage', 'error', 'ipairs', 'load',
                         'loadstring', 'rawequal', 'rawget', 'select', 'tonumber', 'tostring',
                         'type', 'unpack', 'xpcall'}) do
  inside[name] = _G[name]
end
-- Its result is a text that no script can load.
function string.dump(body)
  if type(body) ~= 'function' then
    fail("bad argument #1 to 'dump' (function expected, got " .. type(body) .. ')', 2)
  end
  return '\27Lua'
end
for _, name in pairs_of({'bit', 'cjson', 'cmsgpack', 'coroutine', 'math', 'redis', 'string',
                         'struct', 'table'}) do
  inside[name] = read_only(_G[name])
end
local text_meta = read_only({__index = inside.string})
function inside.gcinfo() return collect('count') end
function inside.pcall(...) return passed(raw_pcall(...)) end
function inside.getmetatable(value)
  if type(value) == 'string' then return text_meta end
  return get_meta(value)
end
function inside.setmetatable(table, meta)
  if inner_of[table] then fail(modified, 0) end
  return set_meta(table, meta)
end
function inside.rawset(table, key, value)
  if inner_of[table] then fail(modified, 0) end
  return raw_set(table, key, value)
end
function inside.pairs(table) return pairs_of(inner_of[table] or table) end
function inside.next(table, key) return next_of(inner_of[table] or table, key) end
local missing = {__index = function(_, name)
  fail("Script attempted to access nonexistent global variable '" .. tostring(name) .. "'", 2)
end}
set_meta(inside, missing)
local view = {__index = inside, __newindex = refuse, __metatable = closed}
inside._G = set_meta({}, view)
inner_of[inside._G] = inside
function enter_script(body, keys, arguments)
  raw_set(inside, 'KEYS', keys)
  raw_set(inside, 'ARGV', arguments)
  return body()
end
local loading = loading_globals
if loading then
  loading.redis = read_only(set_meta(loading.redis, missing))
  set_meta(loading, missing)
end
function enter_library(body)
  view.__index = loading
  body()
  view.__index = inside
end
return inside._G
)lua";

void write_list(value_writer& writer, std::span<const std::string_view> list) {
  writer.begin_list(list.size());
  std::size_t place = 0;
  for (const auto& each : list) {
    writer.text(each);
    writer.element(++place);
  }
}

}  // namespace

result<std::unique_ptr<script_room>> script_room::make(loop::loop& loop,
                                                       script::observer& watched_by,
                                                       const tables& tables) {
  script::settings settings;
  settings.most_memory = most_memory;
  settings.most_time = longest_run;
  settings.time_limit_of = "a script";
  settings.supervisor = tables.supervisor;
  auto machine = script::machine::make(loop, settings, watched_by);
  if (!machine) return std::unexpected(machine.error());
  std::unique_ptr<script_room> made(new script_room(std::move(*machine)));
  made->furnish(tables);
  return made;
}

void script_room::furnish(const tables& tables) {
  machine_->add({.name = "redis", .functions = tables.redis, .help = {}}, tables.commands);
  machine_->add({.name = "cmsgpack", .functions = message_pack_rows(), .help = {}}, nullptr);
  machine_->add({.name = "struct", .functions = binary_layout_rows(), .help = {}}, nullptr);
  machine_->add_json();
  machine_->set("redis", "REDIS_VERSION", tables.version.reported);
  machine_->set("redis", "REDIS_VERSION_NUM", tables.version.number);
  machine_->extend(additions, "=redis");
  if (!tables.loading.empty()) {
    machine_->add({.name = "loading", .functions = tables.loading, .help = {}}, tables.library);
    machine_->extend(registration, "=redis");
  }
  const auto globals = machine_->make_value(scripts_globals, "=redis");
  enter_ = machine_->make_value("return enter_script", "=redis");
  enter_library_ = machine_->make_value("return enter_library", "=redis");
  machine_->use_globals(globals);
}

void script_room::load(const script::value_ref& body, const script::result_taker& take) {
  const auto give = [&](value_writer& writer) {
    writer.kept(body);
    return 1;
  };
  machine_->run(enter_library_, give, take);
}

void script_room::run(const script::value_ref& body, std::span<const std::string_view> keys,
                      std::span<const std::string_view> arguments,
                      const script::result_taker& take) {
  const auto give = [&](value_writer& writer) {
    writer.kept(body);
    write_list(writer, keys);
    write_list(writer, arguments);
    return 3;
  };
  machine_->run(enter_, give, with_place(body, take));
}

void script_room::call(const script::value_ref& function, std::span<const std::string_view> keys,
                       std::span<const std::string_view> arguments,
                       const script::result_taker& take) {
  const auto give = [&](value_writer& writer) {
    write_list(writer, keys);
    write_list(writer, arguments);
    return 2;
  };
  machine_->run(function, give, with_place(function, take));
}

// LuaJIT does not know the place of `return redis.call(…)`: it is most likely the end.
script::result_taker script_room::with_place(const script::value_ref& function,
                                             const script::result_taker& take) const {
  return [this, &function, &take](script::value_view value, const script::failure_place* failed) {
    if (failed == nullptr || !failed->source.empty()) {
      take(value, failed);
      return;
    }
    const auto end = machine_->end_of(function);
    take(value, &end);
  };
}

}  // namespace strata::runtime::cache
