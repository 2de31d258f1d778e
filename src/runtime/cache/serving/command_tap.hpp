// Shows the commands of a cache in its tap.
#pragma once

#include <memory>
#include <string>

#include "runtime/cache/engine/clients/command_watcher.hpp"
#include "runtime/tap.hpp"

namespace strata::runtime::cache {

class command_tap final : public command_watcher {
 public:
  /// `name` is the runtime's.
  command_tap(std::shared_ptr<tap> tap, std::string name)
      : tap_(std::move(tap)), name_(std::move(name)) {}

  [[nodiscard]] bool is_watching() const override { return tap_->is_open(); }
  void on_command(const client& client, std::span<const std::string_view> words) override;

 private:
  std::shared_ptr<tap> tap_;
  std::string name_;
};

}  // namespace strata::runtime::cache
