// `--filter KEY=GLOB`: which runtimes a listing shows.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "cli/line/outcome.hpp"

namespace strata::cli {

class runtime_filter {
 public:
  /// Parses an array of strings. Errors: misused, with the valid keys.
  [[nodiscard]] static outcome<runtime_filter> parse(const nlohmann::json& value);

  /// Whether a runtime, as the API lists it, matches one of the globs for every given key.
  [[nodiscard]] bool takes(const nlohmann::json& runtime) const;

 private:
  std::map<std::string, std::vector<std::string>> globs_;  // by key
};

}  // namespace strata::cli
