// The file of a cache's users, `--acl-file`: read by ACL LOAD, written by ACL SAVE.
#pragma once

#include <string>
#include <string_view>

#include "strata/base/result.hpp"

namespace strata::runtime::cache {

class acl_file {
 public:
  [[nodiscard]] virtual const std::string& path() const = 0;
  /// Errors: those of the system.
  [[nodiscard]] virtual result<std::string> read() = 0;
  /// Replaces the file's text; a reader sees either text whole. Errors: those of the system.
  [[nodiscard]] virtual result<void> write(std::string_view text) = 0;

 protected:
  ~acl_file() = default;
};

}  // namespace strata::runtime::cache
