#include "cli/runtimes/filter.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/terminal/table.hpp"
#include "text/nearest.hpp"

namespace strata::cli {

outcome<runtime_filter> runtime_filter::parse(const nlohmann::json& value) {
  static const std::vector<std::string> keys = {"state", "type", "group", "owner", "name"};
  runtime_filter made;
  for (const auto& each : value) {
    const auto text = each.get<std::string>();
    const auto equals = text.find('=');
    const auto key = text.substr(0, equals);
    if (equals == std::string::npos || key.empty()) {
      return refuse(exit_misused, fmt::format("--filter takes KEY=VALUE, not '{}'; the keys are {}",
                                              text, fmt::join(keys, ", ")));
    }
    if (std::ranges::find(keys, key) == keys.end()) {
      return refuse(exit_misused,
                    fmt::format("there is no key '{}' to filter by{}; there are {}", key,
                                text::did_you_mean(key, keys), fmt::join(keys, ", ")));
    }
    made.globs_[key].push_back(text.substr(equals + 1));
  }
  return made;
}

bool runtime_filter::takes(const nlohmann::json& runtime) const {
  return std::ranges::all_of(globs_, [&](const auto& wanted) {
    const auto& [key, globs] = wanted;
    const auto value = text_at(runtime, key);
    return std::ranges::any_of(globs, [&](const std::string& glob) {
      return ::fnmatch(glob.c_str(), value.c_str(), 0) == 0;
    });
  });
}

}  // namespace strata::cli
