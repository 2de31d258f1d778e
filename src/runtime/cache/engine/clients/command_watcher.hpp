// Sees the commands of a cache as they are executed.
#pragma once

#include <span>
#include <string_view>

namespace strata::runtime::cache {

class client;

class command_watcher {
 public:
  /// It wants to see the next command.
  [[nodiscard]] virtual bool is_watching() const = 0;
  /// A command was executed; its `words` are without secrets.
  virtual void on_command(const client& client, std::span<const std::string_view> words) = 0;

 protected:
  ~command_watcher() = default;
};

}  // namespace strata::runtime::cache
