// The folders in which a script finds its modules: its own first, then those that the administrator
// names.
//
// A value, for any thread. `find` reads files.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "strata/base/result.hpp"

namespace strata::script {

/// The text of a module, and its file's path.
struct module_source {
  std::string path;
  std::string text;
};

class module_folders {
 public:
  /// `script`: the path of the script's file.
  module_folders(const std::string& script, std::span<const std::string> libraries);

  /// Returns the source that `require` loads. Errors: not_found, with the places searched; those of
  /// the file.
  [[nodiscard]] result<module_source> find(std::string_view name) const;
  /// Returns the folders in the form of Lua's `package.path`, each with a `;` behind it.
  [[nodiscard]] std::string package_path() const;

 private:
  std::vector<std::string> all_;
};

}  // namespace strata::script
