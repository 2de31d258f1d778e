// A thing of the program that a script holds as a value: a connection, say. What it is called to do
// are rows, as the functions of a table are.
//
// The script, and whatever still waits for it, own it. It ends when both have let it go, on its
// loop; `close` may come before.
#pragma once

#include <memory>
#include <span>
#include <string_view>

namespace strata::script {

struct function_row;

/// Lives as long as the program.
struct object_kind {
  std::string_view name;  ///< `connection`
  std::string_view help;
  /// Their host is the object.
  std::span<const function_row> methods;
  /// The type of a method of any other name, as annotations write it; empty: there are none.
  std::string_view others = {};
};

class object : public std::enable_shared_from_this<object> {
 public:
  object() = default;
  object(const object&) = delete;
  object& operator=(const object&) = delete;
  virtual ~object() = default;

  /// Its machine gets no new work: whoever waits for it hears of its end.
  virtual void close() = 0;
};

}  // namespace strata::script
