// Makes values of a script, one after the other, on the machine's stack. Lists and tables are
// begun and filled; they may contain others.
#pragma once

#include <cstddef>
#include <string_view>

struct lua_State;

namespace strata::script {

class value_ref;

class value_writer {
 public:
  explicit value_writer(lua_State* state) : in_(state) {}

  void nil();
  void boolean(bool value);
  void number(double value);
  void text(std::string_view value);
  /// A value that the program keeps.
  void kept(const value_ref& value);

  /// Begins a list of `size` elements: each of the next values goes to `element`.
  void begin_list(std::size_t size);
  /// Makes the last value the element at this place, from 1 on, of the list that contains it.
  void element(std::size_t place);
  /// Begins a table of about `size` fields.
  void begin_table(std::size_t size);
  /// Makes the last value the field of that name of the table that contains it.
  void field(std::string_view name);
  /// Makes the last two values a key and its value. A key that is nil or not a number is left out.
  void pair();

 private:
  lua_State* in_;
};

}  // namespace strata::script
