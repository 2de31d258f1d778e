#include "script/machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <utility>

#include "script/conversion.hpp"
#include "script/kept_function.hpp"
#include "script/lua.hpp"
#include "script/machine_parts.hpp"
#include "script/sandbox.hpp"
#include "script/source.hpp"

namespace strata::script {

namespace {

// Instructions between two checks of the time. A check costs 25 ns, an interpreted instruction
// about one.
constexpr int instructions_between = 200;
// The same while there are blocks of a MiB: an instruction that processes one takes up to a ms.
constexpr std::uint64_t large_block = 1U << 20U;
constexpr int instructions_between_large = 20;
// If the time between two checks exceeds this, it will most likely do so again.
constexpr auto slow = std::chrono::milliseconds(1);
constexpr int looks_behind_slow = 1000;
// A thread has 8 MiB of stack, of which the program itself uses little. A coroutine within a
// coroutine uses a few hundred bytes.
constexpr std::ptrdiff_t most_stack = 512L * 1024;

std::chrono::nanoseconds cpu_time() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

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

void on_count(lua_State* state, lua_Debug* /*where*/) { machine::of(state).check_time(state, 0); }

int open_protected(lua_State* state) {
  open_libraries(state, lua_toboolean(state, 1) != 0);
  prepare_conversion(state);
  return 0;
}

}  // namespace

machine::machine(loop::loop& loop, const settings& settings, observer& watched_by)
    : loop_(loop), settings_(settings), observer_(watched_by) {}

result<std::unique_ptr<machine>> machine::make(loop::loop& loop, const settings& settings,
                                               observer& watched_by) {
  std::unique_ptr<machine> made(new machine(loop, settings, watched_by));
  if (auto ready = made->set_up(); !ready) return std::unexpected(ready.error());
  return made;
}

result<void> machine::set_up() {
  state_ = lua_newstate(allocate, this);
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
  lua_sethook(state_, on_count, LUA_MASKCOUNT, instructions_between);
  luaL_loadbuffer(state_, series_lines.data(), series_lines.size(), "=strata");
  lua_pushcfunction(state_, take_step);
  if (lua_pcall(state_, 1, 1, 0) != 0) {
    return failure(errc::limit_exceeded, "make a machine for the script", lua_tostring(state_, -1),
                   "free some memory");
  }
  runs_series_ = luaL_ref(state_, LUA_REGISTRYINDEX);
  make_lazily();
  return {};
}

machine::~machine() {
  tasks_.cancel();
  timers_.clear();
  for (auto& each : activities_) {
    end_early(*each);
  }
  pending_ = {};
  for (const auto& [key, table] : lazy_tables_) table->in_ = nullptr;
  lazy_tables_.clear();
  for (auto* const each : kept_) each->in_ = nullptr;
  if (state_ != nullptr) lua_close(state_);
}

machine& machine::of(lua_State* state) {
  void* self = nullptr;
  lua_getallocf(state, &self);
  return *static_cast<machine*>(self);
}

// While the program itself creates values, memory has no limit, since nothing could catch the
// error. The script's next allocation meets the limit.
void* machine::allocate(void* self, void* block, std::size_t old_size, std::size_t new_size) {
  auto& here = *static_cast<machine*>(self);
  if (new_size == 0) {
    std::free(block);  // NOLINT(cppcoreguidelines-no-malloc)
    here.count_memory(old_size, 0);
    return nullptr;
  }
  if (new_size > old_size) {
    const auto more = new_size - old_size;
    if (here.is_limited_ && here.used_ + more > here.settings_.most_memory) {
      here.was_refused_ = true;
      return nullptr;
    }
    if (more >= much_at_once) here.expect_much();
  }
  void* const moved = std::realloc(block, new_size);  // NOLINT(cppcoreguidelines-no-malloc)
  if (moved != nullptr) here.count_memory(old_size, new_size);
  return moved;
}

void machine::count_memory(std::size_t before, std::size_t now) {
  used_ = used_ - before + now;
  if (before >= large_block) large_ -= before;
  if (now >= large_block) large_ += now;
}

void machine::expect_much() {
  if (!is_limited_) return;
  begin_timing(std::chrono::steady_clock::now());
  if (cpu_began_ == std::chrono::nanoseconds::zero()) cpu_began_ = cpu_time();
  looks_ = std::max(looks_, 1);
  look_again(1);
}

// Reports whether this run was not timed before.
bool machine::begin_timing(std::chrono::steady_clock::time_point now) {
  if (timed_run_ == run_number_) return false;
  timed_run_ = run_number_;
  began_ = looked_ = now;
  cpu_began_ = {};
  return true;
}

int machine::instructions_to_look() const {
  if (looks_ > 0) return 1;
  return large_ > 0 ? instructions_between_large : instructions_between;
}

void machine::look_again(int instructions) {
  if (lua_gethookcount(state_) != instructions) {
    lua_sethook(state_, on_count, LUA_MASKCOUNT, instructions);
  }
}

void machine::check_time(lua_State* running, int level) {
  if (is_stopped_) {
    lua_pushlstring(running, stop_reason_.data(), stop_reason_.size());
    lua_error(running);
  }
  if (looks_ > 0) --looks_;
  if (!is_limited_) return look_again(instructions_to_look());
  const auto now = std::chrono::steady_clock::now();
  const bool is_first = begin_timing(now);
  if (now - std::exchange(looked_, now) > slow) looks_ = looks_behind_slow;
  look_again(instructions_to_look());
  if (is_first) return;
  tidy();
  // Most handlers have ended by then: the kernel is queried only for the others.
  if (cpu_began_ == std::chrono::nanoseconds::zero()) cpu_began_ = cpu_time();
  if (now - began_ < settings_.most_time) return;
  if (cpu_time() - cpu_began_ < settings_.most_time) return;
  is_stopped_ = true;
  luaL_where(running, level);
  std::string place = lua_tostring(running, -1);
  if (place.empty()) place = file_ + ": ";  // Lua does not know the place of a tail call
  stop_reason_ = fmt::format(
      "{}the handler was stopped: it ran for {} ms, the limit of --lua-time", place,
      std::chrono::duration_cast<std::chrono::milliseconds>(settings_.most_time).count());
  lua_pushlstring(running, stop_reason_.data(), stop_reason_.size());
  lua_error(running);
}

void machine::check_stack(lua_State* running) const {
  const char* const here = static_cast<const char*>(__builtin_frame_address(0));
  if (stack_begin_ == nullptr || stack_begin_ - here < most_stack) return;
  luaL_error(running,
             "stack overflow (coroutines, or functions that C calls, are nested too deep)");
}

// LuaJIT gives up when there is no memory, even if much of it is garbage. So after a refused
// allocation, this collects garbage before the next handler needs memory.
void machine::tidy() {
  const auto limit = settings_.most_memory;
  const bool was_refused = std::exchange(was_refused_, false);
  if (!was_refused && (used_ < limit / 2 || used_ < used_after_tidying_ + limit / 8)) return;
  lua_gc(state_, LUA_GCCOLLECT, 0);
  used_after_tidying_ = used_;
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
    std::string path;
    for (const auto& each : module_folders()) path += each + "/?.lua;" + each + "/?/init.lua;";
    extend(fmt::format("package.path = {:?} .. package.path", path), "=strata");
  }
  const auto operation = "load the script '" + name + "'";
  auto& one = take_activity(nullptr);
  const auto chunk = "@" + name;
  if (luaL_loadbufferx(one.thread, text.data(), text.size(), chunk.c_str(), "t") != 0) {
    std::string why = lua_tostring(one.thread, -1);
    release(one, true);
    return failure(errc::invalid_argument, operation, std::move(why), "fix the script");
  }
  if (auto ran = run_chunk(one); !ran) return ran;
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

result<void> machine::run_chunk(activity& one) {
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
  one.awaiter = &chunk;
  chunk.of_ = &one;
  if (resume(one, 0) && !chunk.has_failed) return {};
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

value_ref machine::make_function(std::string_view lines, const char* name) {
  const int status = luaL_loadbuffer(state_, lines.data(), lines.size(), name);
  if (status != 0 || lua_pcall(state_, 0, 1, 0) != 0) {
    observer_.on_error(lua_tostring(state_, -1));
  }
  return {state_, luaL_ref(state_, LUA_REGISTRYINDEX)};
}

double machine::global_number(const char* name, double otherwise) const {
  lua_getglobal(state_, name);
  const double found = lua_isnumber(state_, -1) != 0 ? lua_tonumber(state_, -1) : otherwise;
  lua_pop(state_, 1);
  return found;
}

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

result<module_source> machine::find_module(std::string_view name) const {
  const auto operation = fmt::format("find the module '{}'", name);
  const bool is_plain =
      !name.empty() && !name.starts_with('.') && !name.contains("..") &&
      std::ranges::all_of(name, [](char letter) {
        return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
               (letter >= '0' && letter <= '9') || letter == '_' || letter == '-' || letter == '.';
      });
  if (!is_plain) {
    return failure(errc::invalid_argument, operation,
                   "a name can have letters, digits, '_', '-' and single dots", "name a module");
  }
  std::string relative(name);
  std::ranges::replace(relative, '.', '/');
  std::string tried;
  const auto folders = module_folders();
  for (const auto& folder : folders) {
    for (const char* const ending : {".lua", "/init.lua"}) {
      const auto below = relative + ending;
      auto path = folder + "/" + below;
      // The path must not lead out of the script's folder; the other folders are the
      // administrator's.
      auto text =
          &folder == &folders.front() ? read_source_below(folder, below) : read_source(path);
      if (text) return module_source{std::move(path), std::move(*text)};
      if (text.error().code != errc::not_found) return std::unexpected(text.error());
      tried += (tried.empty() ? "'" : ", '") + path + "'";
    }
  }
  return failure(errc::not_found, operation, "there is no " + tried,
                 "put it into the script's folder");
}

std::vector<std::string> machine::module_folders() const {
  const auto own = std::filesystem::path(file_).parent_path().string();
  std::vector<std::string> all{own.empty() ? "." : own};
  all.insert(all.end(), settings_.libraries.begin(), settings_.libraries.end());
  return all;
}

}  // namespace strata::script
