#include "script/libraries/sorting.hpp"

#include "script/lua.hpp"
#include "script/machine.hpp"

namespace strata::script {

namespace {

// Heap sort in place: it needs no memory, and an inconsistent comparison leads to a wrong order,
// but not out of bounds.
class sorting {
 public:
  explicit sorting(lua_State* state) : state_(state), has_function_(!lua_isnoneornil(state, 2)) {}

  void run(int count) {
    for (int root = count / 2; root >= 1; --root) sink(root, count);
    for (int last = count; last > 1; --last) {
      lua_rawgeti(state_, 1, 1);
      lua_rawgeti(state_, 1, last);
      lua_rawseti(state_, 1, 1);
      lua_rawseti(state_, 1, last);
      sink(1, last - 1);
    }
  }

 private:
  // Moves the value at `root` down until none below it is larger.
  void sink(int root, int count) {
    lua_rawgeti(state_, 1, root);
    for (;;) {
      int child = 2 * root;
      if (child > count) break;
      lua_rawgeti(state_, 1, child);
      if (child < count) {
        lua_rawgeti(state_, 1, child + 1);
        if (is_less(-2, -1)) {
          lua_remove(state_, -2);
          ++child;
        } else {
          lua_pop(state_, 1);
        }
      }
      if (!is_less(-2, -1)) {
        lua_pop(state_, 1);
        break;
      }
      lua_rawseti(state_, 1, root);
      root = child;
    }
    lua_rawseti(state_, 1, root);
  }

  bool is_less(int a, int b) {
    if (compared_ == 0) machine::of(state_).limits().check_stack(state_);
    if (++compared_ % 256 == 0) machine::of(state_).limits().check_time(state_);
    if (!has_function_) return lua_lessthan(state_, a, b) != 0;
    lua_pushvalue(state_, 2);
    lua_pushvalue(state_, a - 1);
    lua_pushvalue(state_, b - 2);
    lua_call(state_, 2, 1);
    const bool is = lua_toboolean(state_, -1) != 0;
    lua_pop(state_, 1);
    return is;
  }

  lua_State* state_;
  bool has_function_;
  unsigned compared_ = 0;
};

int sort(lua_State* state) {
  luaL_checktype(state, 1, LUA_TTABLE);
  if (!lua_isnoneornil(state, 2)) luaL_checktype(state, 2, LUA_TFUNCTION);
  lua_settop(state, 2);
  luaL_checkstack(state, 16, "to sort");
  sorting(state).run(static_cast<int>(lua_objlen(state, 1)));
  return 0;
}

}  // namespace

void open_sorting(lua_State* state) {
  static constexpr luaL_Reg functions[] = {{"sort", sort}, {nullptr, nullptr}};
  luaL_register(state, "table", functions);
  lua_pop(state, 1);
}

}  // namespace strata::script
