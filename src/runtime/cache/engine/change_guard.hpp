// The interface through which a snapshot that is being written sees data before it changes.
#pragma once

#include <span>
#include <string_view>

#include "runtime/cache/engine/command.hpp"

namespace strata::runtime::cache {

class change_guard {
 public:
  /// Called when a command is about to change keys of that database.
  virtual void before_command(unsigned database, const command& command,
                              std::span<const std::string_view> words) = 0;
  /// Called when a key is about to change that is not among a command's words.
  virtual void before_change(unsigned database, std::string_view key) = 0;
  /// Called when a database is about to be emptied.
  virtual void before_clear(unsigned database) = 0;
  /// Called when two databases have been swapped.
  virtual void on_swap(unsigned first, unsigned second) = 0;

 protected:
  ~change_guard() = default;
};

}  // namespace strata::runtime::cache
