// How a machine runs handlers: coroutines that start, wait, and resume.
#include <fmt/format.h>

#include "script/conversion.hpp"
#include "script/lua.hpp"
#include "script/machine.hpp"
#include "script/sandbox.hpp"

namespace strata::script {

namespace {

void push(lua_State* state, const argument& value) {
  struct pusher {
    lua_State* state;
    void operator()(std::monostate) const { lua_pushnil(state); }
    void operator()(bool truth) const { lua_pushboolean(state, truth ? 1 : 0); }
    void operator()(double number) const { lua_pushnumber(state, number); }
    void operator()(std::string_view text) const {
      lua_pushlstring(state, text.data(), text.size());
    }
    void operator()(const nlohmann::json* tree) const { push_json(state, *tree); }
    void operator()(lazy_table* table) const { machine::of(state).tables().push(state, *table); }
  };
  std::visit(pusher{state}, value);
}

/// Removes from a traceback the lines of the program's code that calls the script.
void remove_own_frames(std::string& traceback) {
  constexpr std::string_view begin = "\n\tstrata:";
  for (auto at = traceback.find(begin); at != std::string::npos; at = traceback.find(begin, at)) {
    traceback.erase(at, std::min(traceback.find('\n', at + 1), traceback.size()) - at);
  }
}

/// Pushes the text of the thread's error, which is no string, on the stack of the machine's state.
/// Returns false if it has none, and has then pushed another value.
bool push_shown(machine& machine, lua_State* thread) {
  // The error's own `__tostring` may raise another error, or never end.
  const limited_run run(machine.limits());
  auto* const state = machine.state();
  lua_getglobal(state, "tostring");
  lua_pushvalue(thread, -1);
  lua_xmove(thread, state, 1);
  return lua_pcall(state, 1, 1, 0) == 0 && lua_isstring(state, -1) != 0;
}

/// Returns the script's error as text, with the lines that led to it.
std::string trouble_of(machine& machine, lua_State* thread) {
  auto* const state = machine.state();
  std::string what;
  if (lua_isstring(thread, -1) != 0) {
    std::size_t size = 0;
    const char* const text = lua_tolstring(thread, -1, &size);
    what.assign(text, size);
  } else {
    const bool is_shown = push_shown(machine, thread);
    what = is_shown ? lua_tostring(state, -1)
                    : fmt::format("an error that is a {}, and cannot be shown",
                                  lua_typename(thread, lua_type(thread, -1)));
    lua_pop(state, 1);
  }
  luaL_traceback(state, thread, what.c_str(), 0);
  std::size_t size = 0;
  const char* const traced = lua_tolstring(state, -1, &size);
  std::string all(traced, size);
  lua_pop(state, 1);
  remove_own_frames(all);
  return all;
}

}  // namespace

bool finished::is_nothing(int index) const { return index >= values_ || lua_isnil(by_, index + 1); }

bool finished::is_false() const {
  return values_ > 0 && lua_isboolean(by_, 1) && lua_toboolean(by_, 1) == 0;
}

bool finished::is_text(int index) const {
  return index < values_ && lua_isstring(by_, index + 1) != 0;
}

std::string_view finished::text(int index) const {
  if (!is_text(index)) return {};
  std::size_t size = 0;
  const char* const text = lua_tolstring(by_, index + 1, &size);
  return {text, size};
}

result<nlohmann::json> finished::structure(int index, const char* without) const {
  if (index >= values_) return nlohmann::json();
  nlohmann::json value;
  std::string why;
  const bool is_less = without != nullptr && lua_istable(by_, index + 1);
  if (is_less) {  // for as long as it is read: the script may return the same table again
    luaL_checkstack(by_, 4, "to read a table");
    lua_pushstring(by_, without);
    lua_pushvalue(by_, -1);
    lua_rawget(by_, index + 1);
    lua_pushvalue(by_, -2);
    lua_pushnil(by_);
    lua_rawset(by_, index + 1);
  }
  const bool is_read = read_json(by_, index + 1, value, why);
  if (is_less) lua_rawset(by_, index + 1);
  if (is_read) return value;
  return failure(errc::invalid_argument, "take the value that the script returns", std::move(why),
                 "return texts, numbers, booleans and tables of them");
}

waiter::~waiter() {
  if (activity_ != nullptr) activity_->detach();
}

bool machine::start(std::size_t callback, std::span<const argument> arguments, waiter* waiter) {
  return start_referred(callbacks_[callback], callback, arguments, waiter);
}

bool machine::start(const value_ref& function, std::span<const argument> arguments,
                    waiter* waiter) {
  return start_referred(function.reference(), callback_run::no_callback, arguments, waiter);
}

bool machine::start_referred(int reference, std::size_t callback,
                             std::span<const argument> arguments, waiter* waiter) {
  auto& handler = activities_.take(state_, waiter);
  handler.callback = callback;
  lua_rawgeti(handler.thread, LUA_REGISTRYINDEX, reference);
  return begin(handler, arguments);
}

bool machine::start(series& series) {
  auto& handler = activities_.take(state_, &series);
  handler.steps = &series;
  handler.has_begun = true;  // the provider of the steps counts them
  lua_rawgeti(handler.thread, LUA_REGISTRYINDEX, runs_series_);
  return begin(handler, {});
}

// Returns the function of the next step and its arguments. Steps that arrive after a reload of the
// script are for the other machine.
int machine::take_step(lua_State* state) {
  auto& here = of(state);
  if (here.running_ == nullptr || here.running_->steps == nullptr || here.is_retired_) return 0;
  const auto next = here.running_->steps->next();
  if (!next) return 0;
  here.turn_to(next->callback);
  here.limits_.restart_time();
  here.limits_.collect_garbage_if_due();
  const limits_pause pause(here.limits_);
  lua_rawgeti(state, LUA_REGISTRYINDEX, here.callbacks_[next->callback]);
  for (std::size_t i = 0; i < next->count; ++i) push(state, next->with[i]);
  return static_cast<int>(next->count) + 1;
}

// In a series: reports the time until now as that of the previous callback.
void machine::turn_to(std::size_t callback) {
  const auto before = std::exchange(running_->callback, callback);
  if (before == callback || before == callback_run::no_callback) return;
  const auto now = std::chrono::steady_clock::now();
  observer_.on_run({.callback = before, .took = now - std::exchange(run_began_, now)});
}

bool machine::begin(activity& handler, std::span<const argument> arguments) {
  limits_.collect_garbage_if_due();
  for (const auto& each : arguments) push(handler.thread, each);
  return resume(handler, static_cast<int>(arguments.size()));
}

// Reports whether the handler has ended.
bool machine::resume(activity& handler, int arguments) {
  int status = 0;
  loop::duration took = {};
  {
    const limited_run run(limits_);
    auto* const outer = std::exchange(running_, &handler);
    const auto outer_began = std::exchange(run_began_, std::chrono::steady_clock::now());
    status = lua_resume(handler.thread, arguments);
    took = std::chrono::steady_clock::now() - std::exchange(run_began_, outer_began);
    running_ = outer;
  }
  const bool awaits = status == LUA_YIELD && pending_.is_there && lua_gettop(handler.thread) > 0 &&
                      lua_touserdata(handler.thread, 1) == await_mark();
  const callback_run ran{.callback = handler.callback,
                         .took = took,
                         .has_begun = !std::exchange(handler.has_begun, true)};
  if (!awaits) {
    end(handler, status);
    observer_.on_run(ran);
    return true;
  }
  auto pending = std::exchange(pending_, {});
  lua_settop(handler.thread, 0);
  ++waiting_;
  observer_.on_run(ran);
  handler.is_beginning = true;
  tasks_.spawn(await(handler, std::move(pending.work), std::move(pending.object)));
  handler.is_beginning = false;
  return false;
}

void machine::end(activity& handler, int status) {
  pending_ = {};
  bool is_usable = status == 0;
  int values = -1;
  if (status == 0) {
    values = lua_gettop(handler.thread);
  } else {
    last_error_ = status == LUA_YIELD ? file_ + ": a handler yields outside its own coroutine"
                                      : trouble_of(*this, handler.thread);
    observer_.on_error(last_error_);
    is_usable = false;
  }
  handler.report(finished(handler.thread, values, values < 0 ? last_error_ : std::string_view()));
  activities_.release(state_, handler, is_usable);
}

loop::task<> machine::await(activity& handler, loop::task<answers> work, value_ref object) {
  const auto got = co_await work;
  work = {};
  // A handler that had nothing to wait for yields nevertheless, so that others run and the stack
  // does not grow.
  if (handler.is_beginning) co_await loop_.sleep({});
  --waiting_;
  limits_.collect_garbage_if_due();
  int count = 0;
  luaL_checkstack(handler.thread, 8, "to give an answer");
  if (got && object) {
    lua_rawgeti(handler.thread, LUA_REGISTRYINDEX, object.reference());
    ++count;
  }
  object = {};
  if (!got) {
    lua_pushnil(handler.thread);
    const auto why = describe(got.error());
    lua_pushlstring(handler.thread, why.data(), why.size());
    count = 2;
  } else {
    for (const auto& each : *got) {
      push_json(handler.thread, each);
      ++count;
    }
  }
  resume(handler, count);
}

}  // namespace strata::script
