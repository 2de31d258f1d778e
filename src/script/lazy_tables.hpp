// The lazy tables that a script holds.
//
// The program owns each `lazy_table`, which may be destroyed before this or after. A machine owns
// this. For the machine's loop.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>

#include "script/lazy_table.hpp"

namespace strata::script {

class lazy_tables {
 public:
  lazy_tables() = default;
  lazy_tables(const lazy_tables&) = delete;
  lazy_tables& operator=(const lazy_tables&) = delete;

  /// Creates their metatable. Called once, before `push`.
  void open(lua_State* state);
  /// Pushes the script's table of `table`, the same one each time.
  void push(lua_State* state, lazy_table& table);
  /// Leaves the script's table with the fields that have been read.
  void forget(lazy_table& table);
  /// Forgets all, before the state is closed.
  void clear();

 private:
  static int read_field(lua_State* state);

  lua_State* state_ = nullptr;
  boost::unordered_flat_map<const void*, lazy_table*> all_;  // by address of the script's table
  int metatable_ = 0;                                        // its reference
};

}  // namespace strata::script
