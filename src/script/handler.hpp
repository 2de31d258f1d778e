// What a caller gives to a handler of the script and gets from it: arguments, the outcome, and
// series of calls. A machine runs handlers.
//
// For the machine's loop.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <variant>

#include "loop/loop.hpp"
#include "strata/base/result.hpp"

struct lua_State;

namespace strata::script {

struct activity;
class kept_function;
class lazy_table;

/// An argument of a handler. Texts and structures must live as long as the call that takes them.
using argument = std::variant<std::monostate, bool, double, std::string_view, const nlohmann::json*,
                              lazy_table*>;

/// The outcome of a handler. It lives as long as the call that reports it.
class finished {
 public:
  finished(lua_State* state, int values, std::string_view trouble = {})
      : by_(state), values_(values), trouble_(trouble) {}

  /// Reports whether it ended by an error, which has been reported.
  [[nodiscard]] bool has_failed() const { return values_ < 0; }
  /// The error of a failed handler, with the lines that led to it; empty if its machine was
  /// destroyed.
  [[nodiscard]] std::string_view trouble() const { return trouble_; }
  /// Reports whether it returned nothing, or nil.
  [[nodiscard]] bool is_nothing(int index = 0) const;
  [[nodiscard]] bool is_false() const;
  [[nodiscard]] bool is_text(int index = 0) const;
  [[nodiscard]] std::string_view text(int index = 0) const;
  /// Returns a result as JSON. Errors: JSON has no such value. `without`: a field of a table to
  /// leave out.
  [[nodiscard]] result<nlohmann::json> structure(int index = 0,
                                                 const char* without = nullptr) const;
  /// Returns a function that the handler returned; null if it returned something else.
  [[nodiscard]] std::unique_ptr<kept_function> function() const;
  /// As `function`, from a field of the returned table.
  [[nodiscard]] std::unique_ptr<kept_function> function(const char* field) const;

 private:
  lua_State* by_;
  int values_;
  std::string_view trouble_;
};

/// Receives the end of one handler. If the waiter is destroyed first, the end is not reported.
class waiter {
 public:
  waiter() = default;
  waiter(const waiter&) = delete;
  waiter& operator=(const waiter&) = delete;
  virtual ~waiter();

 protected:
  virtual void on_end(const finished& outcome) = 0;

 private:
  friend struct activity;
  activity* activity_ = nullptr;  // that ends it
};

/// A run of a handler from one wait to the next, and its time.
struct callback_run {
  /// For a function that is not a callback, such as a timer's.
  static constexpr std::size_t no_callback = ~std::size_t{};

  std::size_t callback = no_callback;
  loop::duration took = {};
  bool has_begun = false;  ///< it is the handler's first run
};

/// One call of a callback.
struct step {
  std::size_t callback = 0;
  std::array<argument, 2> with = {};
  std::size_t count = 0;  ///< number of arguments
};

/// Calls that run one after another as one handler, which costs little more than a single one. Each
/// has its own time. The series receives the end of the last call; or of a failed one, after which
/// no further step is requested.
class series : public waiter {
 protected:
  /// Returns the next step. Its texts must live until the next is requested. Nullopt if there is
  /// none now.
  virtual std::optional<step> next() = 0;

 private:
  friend class machine;
};

}  // namespace strata::script
