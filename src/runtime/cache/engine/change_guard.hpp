// What has to see data before it changes: a snapshot that is being written.
#pragma once

#include <span>
#include <string_view>

#include "runtime/cache/engine/command.hpp"

namespace strata::runtime::cache {

class change_guard {
 public:
  /// A command is about to change keys of that database.
  virtual void before_command(unsigned database, const command& command,
                              std::span<const std::string_view> words) = 0;
  /// A key is about to change that none of a command's words names.
  virtual void before_change(unsigned database, std::string_view key) = 0;
  /// A database is about to be emptied.
  virtual void before_clear(unsigned database) = 0;
  /// Two databases have changed places.
  virtual void on_swap(unsigned first, unsigned second) = 0;

 protected:
  ~change_guard() = default;
};

}  // namespace strata::runtime::cache
