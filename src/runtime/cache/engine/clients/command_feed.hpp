// The feed of a cache's executed commands, for those who look on: the watcher, and the clients that
// monitor (MONITOR).
//
// It costs a test while nobody looks on: the engine checks `is_watched()` first. The front owns it.
// No I/O, one thread.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "runtime/cache/engine/clients/client.hpp"
#include "runtime/cache/engine/clients/command_watcher.hpp"
#include "runtime/cache/engine/engine_clock.hpp"

namespace strata::runtime::cache {

class command_feed {
 public:
  /// Both must outlive it; `clients` are all clients of the cache.
  command_feed(const std::vector<client*>& clients, const engine_clock& clock)
      : clients_(clients), clock_(clock) {}
  command_feed(const command_feed&) = delete;
  command_feed& operator=(const command_feed&) = delete;

  /// From here on, `client` monitors, until its `is_monitor` is cleared.
  void add_monitor(client& client) { client.is_monitor = has_monitors_ = true; }
  /// `watcher` must outlive the cache's commands.
  void set_watcher(command_watcher& watcher) { watcher_ = &watcher; }
  /// Whether commands are to be shown to a watcher or a monitoring client.
  [[nodiscard]] bool is_watched() const {
    return has_monitors_ || (watcher_ != nullptr && watcher_->is_watching());
  }
  /// Shows a command that `client` has executed to the watcher and, unless it is an
  /// administrator's, to the clients that monitor.
  void show(const client& client, const command& command, std::span<const std::string_view> words);

 private:
  void show_to_monitors(const client& client, std::span<const std::string_view> shown);

  const std::vector<client*>& clients_;
  const engine_clock& clock_;
  command_watcher* watcher_ = nullptr;
  bool has_monitors_ = false;  // there may be some
};

}  // namespace strata::runtime::cache
