// An object of the program that a script holds as a value, such as a connection. Its methods are
// rows, like the functions of a table.
//
// The script, and handlers that wait for the object, own it. It is destroyed on its loop when both
// have released it; `close` may be called before.
#pragma once

#include <memory>
#include <span>
#include <string_view>

namespace strata::script {

struct function_row;

/// Must live as long as the program.
struct object_kind {
  std::string_view name;  ///< `connection`
  std::string_view help;
  /// Their host is the object.
  std::span<const function_row> methods;
  /// The type of a method of any other name, in the annotations' syntax; empty if there are none.
  std::string_view others = {};
};

class object : public std::enable_shared_from_this<object> {
 public:
  object() = default;
  object(const object&) = delete;
  object& operator=(const object&) = delete;
  virtual ~object() = default;

  /// Called when its machine gets no new work: must report the end to handlers that wait for it.
  virtual void close() = 0;
};

}  // namespace strata::script
