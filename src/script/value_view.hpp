// A value of a script, as the program reads it in place: no copy, no other form in between. Valid
// while the function runs that was given it, and not after any call of the script.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

struct lua_State;

namespace strata::script {

class value_view {
 public:
  enum class kind : std::uint8_t { nil, boolean, number, text, table, other };

  /// The value at this place of the stack.
  value_view(lua_State* state, int index);

  [[nodiscard]] kind what() const;
  [[nodiscard]] bool truth() const;
  /// Reports whether it is a number, or a text that is one.
  [[nodiscard]] bool is_numeric() const;
  [[nodiscard]] double number() const;
  /// Of a text, or of a number, which is converted in place.
  [[nodiscard]] std::string_view text() const;
  /// The name of its type, in Lua's words.
  [[nodiscard]] std::string_view type_name() const;

  // --- of a table; metamethods are not called
  /// Calls `take` with the field of that name, nil if there is none; returns what it returns.
  bool with_field(std::string_view name, const std::function<bool(value_view)>& take) const;
  /// The same for the element at this place, from 1 on.
  bool with_element(int place, const std::function<bool(value_view)>& take) const;
  /// The number of elements before the first nil.
  [[nodiscard]] std::size_t list_size() const;
  /// Calls `take` with each key and its value, in no order, as long as it returns true. Returns
  /// whether all were taken.
  bool each_field(const std::function<bool(value_view key, value_view value)>& take) const;

 private:
  lua_State* in_;
  int index_;
};

}  // namespace strata::script
