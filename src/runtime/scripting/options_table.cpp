#include "runtime/scripting/options_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace strata::runtime::scripting {

namespace {

constexpr double longest_option_ms = 3600e3;

}  // namespace

options_table::options_table(script::call& call, int index,
                             std::initializer_list<std::string_view> known)
    : with_(call) {
  if (!call.has(index)) return;
  nlohmann::json read;
  if (!call.structure(index, read)) {
    is_good_ = false;
    return;
  }
  if (read.empty()) return;
  if (!read.is_object()) {
    refuse("the options are not a table with names as keys");
    return;
  }
  for (const auto& [key, value] : read.items()) {
    if (std::ranges::find(known, key) != known.end()) continue;
    refuse(fmt::format("there is no option '{}': there are {}", key, fmt::join(known, ", ")));
    return;
  }
  given_ = std::move(read);
}

void options_table::refuse(std::string why) {
  with_.fail(std::move(why));
  is_good_ = false;
  given_ = nlohmann::json::object();
}

std::optional<std::string> options_table::text(const char* key) {
  const auto found = given_.find(key);
  if (found == given_.end()) return std::nullopt;
  if (found->is_string()) return found->get<std::string>();
  refuse(fmt::format("the option '{}' is not a text", key));
  return std::nullopt;
}

std::optional<double> options_table::number(const char* key) {
  const auto found = given_.find(key);
  if (found == given_.end()) return std::nullopt;
  if (found->is_number()) return found->get<double>();
  refuse(fmt::format("the option '{}' is not a number", key));
  return std::nullopt;
}

bool options_table::truth(const char* key) {
  const auto found = given_.find(key);
  if (found == given_.end()) return false;
  if (found->is_boolean()) return found->get<bool>();
  refuse(fmt::format("the option '{}' is neither true nor false", key));
  return false;
}

loop::duration options_table::timeout(double usual_ms) {
  const double ms = number("timeout_ms").value_or(usual_ms);
  return loop::from_seconds(std::clamp(ms, 1.0, longest_option_ms) / 1000);
}

}  // namespace strata::runtime::scripting
