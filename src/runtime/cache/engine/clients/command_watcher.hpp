// Receives the commands of a cache as they are executed.
#pragma once

#include <span>
#include <string_view>

namespace strata::runtime::cache {

class client;

class command_watcher {
 public:
  /// Whether to call `on_command` for the next command.
  [[nodiscard]] virtual bool is_watching() const = 0;
  /// Called for an executed command; secrets in `words` are redacted.
  virtual void on_command(const client& client, std::span<const std::string_view> words) = 0;

 protected:
  ~command_watcher() = default;
};

}  // namespace strata::runtime::cache
