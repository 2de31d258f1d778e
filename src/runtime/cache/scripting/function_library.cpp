#include "runtime/cache/scripting/function_library.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "runtime/cache/engine/scripts/script_head.hpp"
#include "runtime/cache/scripting/redis_forms.hpp"
#include "script/call.hpp"

namespace strata::runtime::cache {

std::expected<std::unique_ptr<function_library>, std::string> function_library::make(
    loop::loop& loop, script::observer& watched_by, const surroundings& around,
    std::string_view text) {
  const auto head = read_library_head(text);
  if (!head) return std::unexpected(head.error());
  std::unique_ptr<function_library> made(new function_library(head->name, text, around.supervisor));
  const script_room::tables tables{.redis = script_commands::rows(),
                                   .commands = &around.commands,
                                   .version = around.commands.version(),
                                   .supervisor = &made->supervisor_,
                                   .loading = loading_rows(),
                                   .library = made.get()};
  auto room = script_room::make(loop, watched_by, tables);
  if (!room) return std::unexpected("ERR " + describe(room.error()));
  made->room_ = std::move(*room);
  if (auto wrong = made->run_text(head->body)) return std::unexpected(std::move(*wrong));
  made->supervisor_.end_loading();
  if (made->functions_.empty()) return std::unexpected("ERR No functions registered");
  return made;
}

loop::duration function_library::supervisor::allowance() {
  constexpr auto longest_loading = std::chrono::milliseconds(500);  // as in Redis
  return is_loading_ ? longest_loading : of_functions_.allowance();
}

script::run_supervisor::decision function_library::supervisor::on_overtime() {
  if (is_loading_) return {.error = "FUNCTION LOAD timeout"};
  return of_functions_.on_overtime();
}

std::optional<std::string> function_library::run_text(std::string_view body) {
  auto compiled = room_->compile(body, "@user_function");
  if (!compiled) return "ERR Error compiling function: " + compiled.error().reason;
  std::optional<std::string> wrong;
  room_->load(*compiled, [&wrong](script::value_view value, const script::failure_place* failed) {
    if (failed != nullptr) wrong = "ERR Error registering functions: " + error_text(value);
  });
  return wrong;
}

std::span<const script::function_row> function_library::loading_rows() {
  static constexpr std::array<script::function_row, 2> rows = {{
      {"enroll", "name: string, body: function, flags: string, description?: string", "string",
       "registers a function; returns what is wrong with it",
       script::method<&function_library::enroll>},
      {"is_open", "", "boolean", "whether the library is being loaded",
       script::method<&function_library::give_is_open>},
  }};
  return rows;
}

void function_library::give_is_open(script::call& call) { call.give(supervisor_.is_loading()); }

void function_library::enroll(script::call& call) {
  const auto name = call.text(0);
  if (!is_script_name(name)) {
    call.give(
        "Library names can only contain letters, numbers, or underscores(_) and must be at least "
        "one character long");
    return;
  }
  if (functions_.contains(name)) {
    call.give("Function already exists in the library");
    return;
  }
  function made{.description = {}, .body = call.function(1)};
  if (call.has(3)) made.description = call.text(3);
  for (auto rest = call.text(2); !rest.empty();) {
    const auto end = std::min(rest.find(','), rest.size());
    const auto flag = find_script_flag(rest.substr(0, end));
    if (!flag) {
      call.give("unknown flag given");
      return;
    }
    made.flags |= *flag;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  functions_.emplace(std::string(name), std::move(made));
}

}  // namespace strata::runtime::cache
