// Parameters of Redis that have no effect in this cache. It keeps their values, so that setting one
// does not fail.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "strata/base/result.hpp"

namespace strata::runtime::cache {

class idle_parameters {
 public:
  /// Returns name and value of each parameter that `pattern` matches; a few, which Redis hides,
  /// only if it is their name.
  [[nodiscard]] std::vector<std::pair<std::string_view, std::string>> find(
      std::string_view pattern) const;
  /// Name and value of each parameter that has not Redis's default.
  [[nodiscard]] const std::map<std::string_view, std::string>& changed() const { return changed_; }
  [[nodiscard]] static bool knows(std::string_view name);
  /// Sets a known parameter. Errors: invalid_argument, with Redis's reason: a value that Redis
  /// refuses.
  [[nodiscard]] result<void> set(std::string_view name, std::string_view value);

 private:
  std::map<std::string_view, std::string> changed_;
};

}  // namespace strata::runtime::cache
