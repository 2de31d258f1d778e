// A value of JSON that a script is given, and gives back, is the same; a script's numbers are
// doubles.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "script/conversion.hpp"
#include "script/lua.hpp"

using nlohmann::json;

namespace {

// Compared as a script has it.
// NOLINTNEXTLINE(misc-no-recursion)
bool is_same(const json& given, const json& back) {
  if (given.is_number()) return back.is_number() && given.get<double>() == back.get<double>();
  if (!given.is_structured()) return given == back;
  if (given.type() != back.type() || given.size() != back.size()) return false;
  if (given.is_array()) {
    for (std::size_t at = 0; at < given.size(); ++at) {
      if (!is_same(given[at], back[at])) return false;
    }
    return true;
  }
  for (const auto& [key, value] : given.items()) {
    if (!back.contains(key) || !is_same(value, back[key])) return false;
  }
  return true;
}

// NOLINTNEXTLINE(misc-no-recursion)
int depth_of(const json& value) {
  int most = 0;
  if (!value.is_structured()) return most;
  for (const auto& each : value) most = std::max(most, depth_of(each));
  return most + 1;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto value = json::parse(text, nullptr, false);
  // Deeper ones are refused before they come to a script.
  if (value.is_discarded() || depth_of(value) > strata::script::most_depth) return 0;
  lua_State* const in = luaL_newstate();
  strata::script::prepare_conversion(in);
  strata::script::push_json(in, value);
  json back;
  std::string why;
  if (!strata::script::read_json(in, -1, back, why) || !is_same(value, back)) std::abort();
  lua_close(in);
  return 0;
}
