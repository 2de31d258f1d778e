// The script of a cache: its functions are the commands; it fetches missing keys, and receives
// changes.
#pragma once

#include <atomic>
#include <memory>

#include "runtime/cache/options.hpp"
#include "runtime/cache/scripting/own_client.hpp"
#include "runtime/cache/scripting/read_through.hpp"
#include "runtime/cache/scripting/write_behind.hpp"
#include "runtime/scripting/host.hpp"

namespace strata::runtime::cache {

class cache_script {
 public:
  cache_script(loop::loop& loop, engine& data, work_hooks hooks, const cache_options& options,
               scripting::identity identity);

  /// Loads the script and calls on_start. Errors: those of the script.
  result<void> open();
  /// Calls on_stop, and waits until the script has received all changes, until `limit` or until
  /// `hurried` is set. No clients must be left.
  loop::task<> end(loop::time_point limit, const std::atomic<bool>& hurried);
  result<void> reload();

  loop::task<result<nlohmann::json>> evaluate(std::string text, loop::time_point limit) {
    return host_.evaluate(std::move(text), limit);
  }

  /// Reports to the script that a client has connected or disconnected, and waits until its handler
  /// has ended.
  loop::task<> notify(scripting::callback callback, std::uint64_t client);

  [[nodiscard]] const scripting::script_figures& counted() const { return host_.counted(); }
  [[nodiscard]] const behind_figures& counted_changes() const { return changes_.counted(); }

 private:
  void heed();
  void call_command(script::call& call);
  void execute(script::call& call, unsigned database, std::vector<std::string_view> words,
               int first);
  void call_named(script::call& call);
  void call_in(script::call& call);
  friend std::span<const script::function_row> script_functions();

  work_hooks hooks_;
  scripting::host host_;
  own_client hand_;
  write_behind changes_;
  read_through misses_;
};

/// The functions of a cache's script in `self`: each command, and `call`.
[[nodiscard]] std::span<const script::function_row> script_functions();

}  // namespace strata::runtime::cache
