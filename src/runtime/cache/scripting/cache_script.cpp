#include "runtime/cache/scripting/cache_script.hpp"

#include <nlohmann/json.hpp>
#include <utility>

#include "runtime/scripting/redis_values.hpp"
#include "script/call.hpp"

namespace strata::runtime::cache {

using scripting::callback;

cache_script::cache_script(loop::loop& loop, engine& data, work_hooks hooks,
                           const cache_options& options, scripting::identity identity)
    : hooks_(std::move(hooks)),
      host_(loop, options, std::move(identity)),
      hand_(data, hooks_),
      changes_(loop, data, host_),
      misses_(loop, data, hand_, hooks_, host_,
              [this](bool begins) { changes_.set_deaf(begins); }) {
  host_.offer(script_functions(), this);
}

void cache_script::heed() {
  changes_.heed_script();
  misses_.heed_script();
}

result<void> cache_script::open() {
  if (auto opened = host_.open(); !opened) return opened;
  heed();
  return host_.begin();
}

result<void> cache_script::reload() {
  auto loaded = host_.reload();
  if (loaded) heed();
  return loaded;
}

loop::task<> cache_script::end(loop::time_point limit, const std::atomic<bool>& hurried) {
  co_await changes_.drain(limit, hurried);
  co_await host_.end(limit);
}

loop::task<> cache_script::notify(callback callback, std::uint64_t client) {
  if (!host_.has(callback)) co_return;
  std::vector<script::argument> with{static_cast<double>(client)};
  co_await host_.ask(callback, std::move(with), [](const script::finished&) { return true; });
}

// --- functions of the script

void cache_script::execute(script::call& call, unsigned database,
                           std::vector<std::string_view> words, int first) {
  for (int i = first; i < call.count(); ++i) {
    if (!call.is_text(i)) {
      call.fail("argument " + std::to_string(i + 1) + " is neither a string nor a number");
      return;
    }
    words.push_back(call.text(i));
  }
  const auto values = scripting::script_values(hand_.execute(database, words));
  for (const auto& each : *values) {
    if (each.is_null()) {
      call.give_nothing();
    } else {
      call.give(each);
    }
  }
}

void cache_script::call_command(script::call& call) { execute(call, 0, {call.name()}, 0); }
void cache_script::call_named(script::call& call) { execute(call, 0, {call.text(0)}, 1); }

void cache_script::call_in(script::call& call) {
  const auto database = call.integer(0);
  if (database >= keyspace::database_count) {
    call.fail("no database has the number " + std::to_string(database) + ": use 0 to 15");
    return;
  }
  execute(call, static_cast<unsigned>(database), {call.text(1)}, 2);
}

// Each command is a function. TYPE is an exception: `self.type` is the runtime's.
std::span<const script::function_row> script_functions() {
  static const auto rows = [] {
    std::vector<script::function_row> all;
    all.push_back({"call", "command: string, ...: string", "any, string?",
                   "executes a command; returns its reply, or nil and the error; a null reply is "
                   "nil",
                   script::method<&cache_script::call_named>});
    all.push_back({"call_in", "database: integer, command: string, ...: string", "any, string?",
                   "executes a command as call does, but in the given database",
                   script::method<&cache_script::call_in>});
    for (const auto& each : all_commands()) {
      const bool is_alone = each.parent == nullptr && each.row->name != "type";
      if (!is_alone || !is_for_scripts(each)) continue;
      all.push_back({each.row->name, "...: string", "any, string?", each.row->summary,
                     script::method<&cache_script::call_command>});
    }
    return all;
  }();
  return rows;
}

}  // namespace strata::runtime::cache
