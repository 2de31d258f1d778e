// Values between scripts and JSON. A value of JSON that a script is given, and gives back, is the
// same; whatever a script makes becomes JSON or is refused in words.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>

#include "script/conversion.hpp"
#include "script/lua.hpp"

using nlohmann::json;

namespace {

// Compared as a script has it: its numbers are doubles.
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

void expect_back(lua_State* in, const json& value) {
  strata::script::push_json(in, value);
  json back;
  std::string why;
  if (!strata::script::read_json(in, -1, back, why) || !is_same(value, back)) std::abort();
  lua_pop(in, 1);
}

void from_json(lua_State* in, std::string_view text) {
  const auto value = json::parse(text, nullptr, false);
  // Deeper ones are refused before they come to a script.
  if (!value.is_discarded() && depth_of(value) <= strata::script::most_depth) {
    expect_back(in, value);
  }
}

// What a script may make: each byte is a step on a stack of values.
class maker {
 public:
  maker(lua_State* in, std::span<const std::uint8_t> from) : in_(in), from_(from) {}

  void run() {
    lua_newtable(in_);
    while (!from_.empty() && lua_gettop(in_) < most_values) step(take());
    // What has no table to go to is dropped.
    lua_settop(in_, 1);
  }

 private:
  static constexpr int most_values = 200;

  std::uint8_t take() {
    if (from_.empty()) return 0;
    const auto first = from_.front();
    from_ = from_.subspan(1);
    return first;
  }

  void step(std::uint8_t what) {
    switch (what % 14) {
      case 0: lua_newtable(in_); break;
      case 1:
        lua_newtable(in_);
        strata::script::mark_array(in_);
        break;
      case 2: lua_pushnumber(in_, take()); break;
      case 3: lua_pushnumber(in_, -1.5 * take()); break;
      case 4: lua_pushnumber(in_, std::numeric_limits<double>::quiet_NaN()); break;
      case 5: lua_pushnumber(in_, std::numeric_limits<double>::infinity()); break;
      case 6: push_text(); break;
      case 7: lua_pushboolean(in_, take() & 1U); break;
      case 8: strata::script::push_null(in_); break;
      case 9: lua_pushlightuserdata(in_, in_); break;
      case 10: luaL_loadstring(in_, "return 1"); break;
      case 11: lua_pushvalue(in_, 1 + (take() % lua_gettop(in_))); break;
      case 12: append(); break;
      default: assign(); break;
    }
  }

  void push_text() {
    const auto size = std::min<std::size_t>(take() % 8, from_.size());
    lua_pushlstring(in_, reinterpret_cast<const char*>(from_.data()), size);
    from_ = from_.subspan(size);
  }

  // The last value becomes the next of the table below it.
  void append() {
    if (lua_gettop(in_) < 2 || !lua_istable(in_, -2)) return;
    lua_rawseti(in_, -2, static_cast<int>(lua_objlen(in_, -2)) + 1);
  }

  // The last two values become a field of the table below them.
  void assign() {
    if (lua_gettop(in_) < 3 || !lua_istable(in_, -3)) return;
    const bool is_key = !lua_isnil(in_, -2) && lua_rawequal(in_, -2, -2) != 0;
    if (is_key) {
      lua_rawset(in_, -3);
    } else {
      lua_pop(in_, 2);
    }
  }

  lua_State* in_;
  std::span<const std::uint8_t> from_;
};

void from_script(lua_State* in, std::span<const std::uint8_t> steps) {
  maker(in, steps).run();
  json value;
  std::string why;
  const int top = lua_gettop(in);
  const bool is_read = strata::script::read_json(in, -1, value, why);
  if (lua_gettop(in) != top || is_read == !why.empty()) std::abort();
  if (is_read) expect_back(in, value);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  lua_State* const in = luaL_newstate();
  strata::script::prepare_conversion(in);
  from_json(in, {reinterpret_cast<const char*>(data), size});
  from_script(in, {data, size});
  lua_close(in);
  return 0;
}
