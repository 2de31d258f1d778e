// The interface between a script and the program: tables of functions, and the script's functions
// that the program calls. Each is a row, from which the checks of arguments, the reference and the
// annotations for editors are made.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>
#include <vector>

#include "loop/task.hpp"
#include "strata/base/result.hpp"

namespace strata::script {

class call;

/// The results of a waiting function, each a value of the script. Errors: the script gets nil and
/// the error's text.
using answers = result<std::vector<nlohmann::json>>;

enum class value_kind : std::uint8_t { any, boolean, number, integer, string, table, function };

struct parameter {
  std::string_view name;
  value_kind kind = value_kind::any;
  bool is_optional = false;
  std::string_view type = "any";  ///< as written in the signature
};

/// Parses `id: integer, message: string, ttl?: number`. The text must outlive the parameters.
[[nodiscard]] std::vector<parameter> parse_parameters(std::string_view signature);
[[nodiscard]] std::string_view name_of(value_kind kind);

/// A function's effect beyond the script's own runtime. A script may lack the right to it.
enum class right : std::uint8_t {
  none,
  net,       ///< communicates with other programs
  runtimes,  ///< changes other runtimes, or sends to them
};

/// A function that scripts call. One of `run` and `wait` is set; neither if the function is written
/// in Lua, by lines that extend the machine.
struct function_row {
  std::string_view name;        ///< `send`, or `json.encode` in a table of its own
  std::string_view parameters;  ///< in the syntax of `parse_parameters`
  std::string_view returns;     ///< their types, in the editors' syntax; empty if nothing
  std::string_view help;        ///< one line, lower case, no full stop
  /// Returns its results at once.
  void (*run)(void* host, call& call) = nullptr;
  /// Suspends only the calling handler until the results are available. Reads the arguments before
  /// it returns: they do not exist any more when the task runs.
  loop::task<answers> (*wait)(void* host, call& call) = nullptr;
  right needs = right::none;
};

/// A function of the script that the program calls upon an event.
struct callback_row {
  std::string_view name;
  std::string_view parameters;
  std::string_view returns;
  std::string_view help;
};

/// A global table of functions.
struct library {
  std::string_view name;
  std::span<const function_row> functions;
  std::string_view help;
};

namespace detail {

template <class>
struct method_host;
template <class Result, class Host>
struct method_host<Result (Host::*)(call&)> {
  using type = Host;
};
template <class Result, class Host>
struct method_host<Result (Host::*)(call&) const> {
  using type = Host;
};

}  // namespace detail

/// Wraps a member function of the host for a row's `run` or `wait`.
template <auto Method>
constexpr auto method = [](void* host, call& call) {
  return (static_cast<detail::method_host<decltype(Method)>::type*>(host)->*Method)(call);
};

}  // namespace strata::script
