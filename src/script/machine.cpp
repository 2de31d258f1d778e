#include "script/machine.hpp"

#include <fmt/format.h>

#include <utility>

#include "script/conversion.hpp"
#include "script/kept_function.hpp"
#include "script/lua.hpp"
#include "script/module_folders.hpp"
#include "script/sandbox.hpp"
#include "script/source.hpp"

namespace strata::script {

namespace {

// Runs the handlers of a series, one after another.
constexpr std::string_view series_lines = R"(
local take_step = ...
return function()
  local callback, first, second = take_step()
  while callback do
    callback(first, second)
    callback, first, second = take_step()
  end
end)";

int open_protected(lua_State* state) {
  open_libraries(state, lua_toboolean(state, 1) != 0);
  prepare_conversion(state);
  return 0;
}

// Handles an error where it was raised. The program's own functions, which raise it on behalf of a
// script, are not its place.
int note_place(lua_State* state) {
  lua_Debug where{};
  for (int level = 1; lua_getstack(state, level, &where) != 0; ++level) {
    if (lua_getinfo(state, "Sl", &where) == 0 || *where.source == '=') continue;
    machine::of(state).note_failure({.source = where.source, .line = where.currentline});
    break;
  }
  return 1;
}

}  // namespace

machine::machine(loop::loop& loop, const settings& settings, observer& watched_by)
    : loop_(loop),
      settings_(settings),
      observer_(watched_by),
      limits_(settings_.most_time, settings_.time_limit_of, settings_.most_memory, file_,
              settings_.supervisor),
      objects_(settings_.most_objects),
      timers_(*this, loop, settings_.most_waiting) {}

result<std::unique_ptr<machine>> machine::make(loop::loop& loop, const settings& settings,
                                               observer& watched_by) {
  std::unique_ptr<machine> made(new machine(loop, settings, watched_by));
  if (auto ready = made->set_up(); !ready) return std::unexpected(ready.error());
  return made;
}

result<void> machine::set_up() {
  state_ = lua_newstate(
      [](void* self, void* block, std::size_t old_size, std::size_t new_size) {
        return static_cast<machine*>(self)->limits_.allocate(block, old_size, new_size);
      },
      this);
  if (state_ == nullptr) {
    return failure(errc::limit_exceeded, "make a machine for the script", "there is no memory",
                   "free some");
  }
  luaJIT_setmode(state_, 0,
                 LUAJIT_MODE_ENGINE | (settings_.is_compiled ? LUAJIT_MODE_ON : LUAJIT_MODE_OFF));
  lua_pushcfunction(state_, open_protected);
  lua_pushboolean(state_, settings_.is_unsafe ? 1 : 0);
  if (lua_pcall(state_, 1, 0, 0) != 0) {
    return failure(errc::limit_exceeded, "make a machine for the script", lua_tostring(state_, -1),
                   "free some memory");
  }
  limits_.watch(state_);
  luaL_loadbuffer(state_, series_lines.data(), series_lines.size(), "=strata");
  lua_pushcfunction(state_, take_step);
  if (lua_pcall(state_, 1, 1, 0) != 0) {
    return failure(errc::limit_exceeded, "make a machine for the script", lua_tostring(state_, -1),
                   "free some memory");
  }
  runs_series_ = luaL_ref(state_, LUA_REGISTRYINDEX);
  tables_.open(state_);
  return {};
}

machine::~machine() {
  tasks_.cancel();
  timers_.clear();
  activities_.end_early();
  pending_ = {};
  tables_.clear();
  for (auto* const each : kept_) each->in_ = nullptr;
  if (state_ != nullptr) lua_close(state_);
}

machine& machine::of(lua_State* state) {
  void* self = nullptr;
  lua_getallocf(state, &self);
  return *static_cast<machine*>(self);
}

result<void> machine::load(const std::string& file, std::span<const callback_row> callbacks) {
  const auto text = read_source(file);
  if (!text) return std::unexpected(text.error());
  return load_text(*text, file, callbacks);
}

result<void> machine::load_text(std::string_view text, const std::string& name,
                                std::span<const callback_row> callbacks) {
  file_ = name;
  if (settings_.is_unsafe) {
    const module_folders folders(file_, settings_.libraries);
    extend(fmt::format("package.path = {:?} .. package.path", folders.package_path()), "=strata");
  }
  const auto operation = "load the script '" + name + "'";
  auto& handler = activities_.take(state_, nullptr);
  const auto chunk = "@" + name;
  if (luaL_loadbufferx(handler.thread, text.data(), text.size(), chunk.c_str(), "t") != 0) {
    std::string why = lua_tostring(handler.thread, -1);
    activities_.release(state_, handler, true);
    return failure(errc::invalid_argument, operation, std::move(why), "fix the script");
  }
  if (auto ran = run_chunk(handler); !ran) return ran;
  for (const auto& each : callbacks) {
    lua_getglobal(state_, std::string(each.name).c_str());
    const bool is_there = lua_isfunction(state_, -1);
    const bool is_wrong = !is_there && !lua_isnil(state_, -1);
    callbacks_.push_back(is_there ? luaL_ref(state_, LUA_REGISTRYINDEX) : 0);
    if (!is_there) lua_pop(state_, 1);
    if (is_wrong) {
      return failure(errc::invalid_argument, operation,
                     fmt::format("'{}' is not a function", each.name), "write it as a function");
    }
  }
  return {};
}

result<void> machine::run_chunk(activity& handler) {
  class chunk_end final : public waiter {
   public:
    bool has_ended = false;
    bool has_failed = false;

   private:
    void on_end(const finished& outcome) override {
      has_ended = true;
      has_failed = outcome.has_failed();
    }
  };
  const auto operation = "load the script '" + file_ + "'";
  chunk_end chunk;
  handler.attach(chunk);
  if (resume(handler, 0) && !chunk.has_failed) return {};
  if (!chunk.has_ended) {
    return failure(errc::invalid_argument, operation, "it waits while it is being loaded",
                   "wait in on_start instead");
  }
  return failure(errc::invalid_argument, operation, last_error_, "fix the script");
}

void machine::extend(std::string_view lines, const char* name) {
  const int status = luaL_loadbuffer(state_, lines.data(), lines.size(), name);
  if (status != 0 || lua_pcall(state_, 0, 0, 0) != 0) {
    observer_.on_error(lua_tostring(state_, -1));
    lua_pop(state_, 1);
  }
}

void machine::add_json() {
  lua_pushcfunction(state_, luaopen_cjson);
  if (lua_pcall(state_, 0, 1, 0) != 0) {
    observer_.on_error(lua_tostring(state_, -1));
    lua_pop(state_, 1);
    return;
  }
  lua_setglobal(state_, "cjson");
}

value_ref machine::make_value(std::string_view lines, const char* name) {
  const int status = luaL_loadbuffer(state_, lines.data(), lines.size(), name);
  if (status != 0 || lua_pcall(state_, 0, 1, 0) != 0) {
    observer_.on_error(lua_tostring(state_, -1));
  }
  return {state_, luaL_ref(state_, LUA_REGISTRYINDEX)};
}

void machine::use_globals(const value_ref& globals) {
  lua_rawgeti(state_, LUA_REGISTRYINDEX, globals.reference());
  lua_replace(state_, LUA_GLOBALSINDEX);
}

result<value_ref> machine::compile(std::string_view text, const std::string& name) {
  const limited_run limited(limits_);
  const int status = luaL_loadbufferx(state_, text.data(), text.size(), name.c_str(), "t");
  if (status == 0) return value_ref(state_, luaL_ref(state_, LUA_REGISTRYINDEX));
  const char* const said = lua_tostring(state_, -1);
  std::string why = said == nullptr ? "out of memory" : said;
  lua_pop(state_, 1);
  return failure(errc::invalid_argument, "compile a script", std::move(why), "fix the script");
}

failure_place machine::end_of(const value_ref& function) const {
  lua_Debug where{};
  lua_rawgeti(state_, LUA_REGISTRYINDEX, function.reference());
  if (lua_getinfo(state_, ">S", &where) == 0) return {};
  return {.source = where.source, .line = where.lastlinedefined};
}

void machine::run(const value_ref& function, const std::function<int(value_writer& writer)>& give,
                  const result_taker& take) {
  const int base = lua_gettop(state_);
  failed_at_ = {};
  lua_pushcfunction(state_, note_place);
  int status = 0;
  {
    const limited_run limited(limits_);
    int arguments = 0;
    {
      const limits_pause pause(limits_);
      luaL_checkstack(state_, 4, "to run a function");
      lua_rawgeti(state_, LUA_REGISTRYINDEX, function.reference());
      value_writer writer(state_);
      arguments = give(writer);
    }
    limits_.collect_garbage_if_due();
    status = lua_pcall(state_, arguments, 1, base + 1);
  }
  take({state_, -1}, status == 0 ? nullptr : &failed_at_);
  lua_settop(state_, base);
}

void machine::retire() {
  is_retired_ = true;
  timers_.clear();
  objects_.close();
}

double machine::global_number(const char* name, double otherwise) const {
  lua_getglobal(state_, name);
  const double found = lua_isnumber(state_, -1) != 0 ? lua_tonumber(state_, -1) : otherwise;
  lua_pop(state_, 1);
  return found;
}

void machine::add(const library& table, void* host) { functions_.add(state_, table, host); }

void machine::make_kind(const object_kind& kind) { functions_.add_kind(state_, kind); }

void machine::set(std::string_view table, const char* field, const nlohmann::json& value) {
  lua_getglobal(state_, std::string(table).c_str());
  push_json(state_, value);
  lua_setfield(state_, -2, field);
  lua_pop(state_, 1);
}

void machine::alias(const char* name, const char* other) {
  lua_getglobal(state_, name);
  lua_setglobal(state_, other);
}

}  // namespace strata::script
