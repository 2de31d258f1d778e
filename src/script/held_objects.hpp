// The objects of the program that a script holds, until the script's garbage collection frees them.
//
// The script's values own the objects together with the handlers that wait for them; this only
// knows them. A machine owns it. For the machine's loop.
#pragma once

#include <cstddef>
#include <memory>
#include <set>

#include "script/object.hpp"

struct lua_State;

namespace strata::script {

/// An object as a value of the script.
struct held_object {
  std::shared_ptr<object> owner;
  void* self = nullptr;  ///< the object as its methods take it
};

class held_objects {
 public:
  /// `limit`: for objects that the script holds.
  explicit held_objects(std::size_t limit) : limit_(limit) {}
  held_objects(const held_objects&) = delete;
  held_objects& operator=(const held_objects&) = delete;

  /// Pops a table, the methods of the kind, and makes the kind known.
  static void add_kind(lua_State* state, const object_kind& kind);
  /// Reports whether the script may hold another. May collect garbage: objects that the script has
  /// released exist until then.
  [[nodiscard]] bool has_room(lua_State* state) const;
  /// Pushes an object of a known kind. `self`: the object as its methods take it.
  void push(lua_State* state, const object_kind& kind, std::shared_ptr<object> object, void* self);
  /// Returns the first argument of the call under way. Its owner is null if it is no object of the
  /// kind.
  [[nodiscard]] static held_object first_argument(lua_State* state, const object_kind& kind);
  /// Closes all.
  void close() const;

 private:
  static int collect(lua_State* state);

  std::size_t limit_;
  std::set<object*> all_;
};

}  // namespace strata::script
