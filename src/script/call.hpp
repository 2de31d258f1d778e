// One call of a function by a script: its arguments, and its results.
//
// The arguments have been checked against the function's row. Creating a value may end the call
// with an error of the script (out of memory): it passes through C++ as an exception does, and
// destructors run.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>

#include "script/object.hpp"
#include "script/value_view.hpp"
#include "script/value_writer.hpp"

struct lua_State;

namespace strata::script {

class machine;
struct parameter;

/// A function, or another value, of the script that the program keeps. Move only; destroy it before
/// its machine.
class value_ref {
 public:
  value_ref() = default;
  value_ref(lua_State* state, int reference) : in_(state), reference_(reference) {}
  value_ref(value_ref&& other) noexcept;
  value_ref& operator=(value_ref&& other) noexcept;
  ~value_ref();

  [[nodiscard]] int reference() const { return reference_; }
  explicit operator bool() const { return in_ != nullptr; }

 private:
  lua_State* in_ = nullptr;
  int reference_ = 0;
};

class call {
 public:
  /// `name`: the function's, in its table. `parameters` must outlive the call.
  call(machine& machine, lua_State* state, std::string_view name,
       std::span<const parameter> parameters)
      : machine_(machine), state_(state), name_(name), parameters_(parameters) {}
  call(const call&) = delete;
  call& operator=(const call&) = delete;

  // --- arguments, the first is 0
  [[nodiscard]] int count() const;
  /// Reports whether the argument is present and not nil.
  [[nodiscard]] bool has(int index) const;
  [[nodiscard]] bool truth(int index) const;
  [[nodiscard]] double number(int index) const;
  [[nodiscard]] std::uint64_t integer(int index) const;
  /// For a string or a number. The text lives as long as the call.
  [[nodiscard]] std::string_view text(int index) const;
  /// Reports whether the argument is a string or a number.
  [[nodiscard]] bool is_text(int index) const;
  [[nodiscard]] bool is_table(int index) const;
  /// Returns any value as `tostring` shows it.
  [[nodiscard]] std::string shown(int index) const;
  /// Converts an argument to JSON. Returns false if JSON has no such value; `fail` has then been
  /// called. Strings may hold any bytes.
  [[nodiscard]] bool structure(int index, nlohmann::json& value);
  /// As `structure`, but all strings are UTF-8, as in JSON text.
  [[nodiscard]] bool json_structure(int index, nlohmann::json& value);
  /// As `fail`, for one argument: `argument 2 (indent) is 99: it must be 0 to 16`.
  void fail_argument(int index, std::string_view reason);
  [[nodiscard]] value_ref function(int index) const;
  /// The argument as it is.
  [[nodiscard]] value_view view(int index) const { return {state_, index + 1}; }

  /// Frees the stack of the arguments, before anything is given back: a call may have thousands.
  void drop_arguments();

  // --- what it gives back, in this order
  void give_nothing();
  void give(bool value);
  void give(double value);
  void give(std::uint64_t value) { give(static_cast<double>(value)); }
  void give(std::string_view value);
  void give(const char* value) { give(std::string_view(value)); }
  void give(const nlohmann::json& value);
  /// Gives back the one value that `write` writes.
  template <class Write>
  void give_written(Write write) {
    value_writer writer(state_);
    write(writer);
    ++given_;
  }
  /// Takes the last value given back again.
  void take_back();
  /// Replaces one of the values given so far, the first is 0.
  void replace_given(int index, double value);
  /// Returns an object, of a kind known to its machine, to the script. A function that waits calls
  /// it before it waits: the script gets the object when the task succeeds. Returns false if the
  /// script holds too many objects; `fail` has then been called.
  template <class Object>
  bool give(const object_kind& kind, const std::shared_ptr<Object>& object) {
    return give_object(kind, object, object.get());
  }
  /// Keeps the last returned value, such as an object, from being collected while the reference
  /// exists.
  [[nodiscard]] value_ref keep_given() const;
  /// Returns nil and the reason, for a failure that a script can handle.
  void refuse(std::string_view why);
  /// Returns the argument, a table, marked as an array.
  void give_as_array(int index);

  /// Raises the last value given in the script, as it is, instead of returning results.
  void raise_given() { is_raised_ = true; }
  /// Raises this error in the script, at the place of its call, instead of returning results.
  void fail(std::string why) { failure_ = std::move(why); }

  [[nodiscard]] machine& by() const { return machine_; }
  /// The name of the called function, in its table.
  [[nodiscard]] std::string_view name() const { return name_; }

  // --- for the machine
  [[nodiscard]] int given() const { return given_; }
  [[nodiscard]] const std::string& failure() const { return failure_; }
  [[nodiscard]] bool is_raised() const { return is_raised_; }

 private:
  bool give_object(const object_kind& kind, std::shared_ptr<object> object, void* self);

  machine& machine_;
  lua_State* state_;
  std::string_view name_;
  std::span<const parameter> parameters_;
  int given_ = 0;
  std::string failure_;
  bool is_raised_ = false;
};

}  // namespace strata::script
