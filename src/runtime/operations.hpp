// Operations of runtimes beyond their state, as rows of their type. A row generates the route of
// the control API and its description, the verb of the command line with its help and table, and
// the operations of `strata.ask` in scripts. A new operation is a row in its type's table and the
// function that the row names.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "loop/loop.hpp"
#include "options/option_table.hpp"
#include "runtime/session.hpp"

namespace strata::runtime {

class runtime;

/// The role that a caller needs. Each includes those before it.
enum class role : std::uint8_t {
  read,     ///< reads the present state
  operate,  ///< operates runtimes, as their options allow
  admin,    ///< uses all rights of the daemon
};

[[nodiscard]] std::string_view name_of(role role);
/// Nullopt if no role has that name.
[[nodiscard]] std::optional<role> find_role(std::string_view name);

enum class answer_kind : std::uint8_t {
  text,     ///< a JSON string
  count,    ///< a whole number
  flag,     ///< true or false
  texts,    ///< an array of strings
  counts,   ///< an object of whole numbers
  bytes,    ///< a whole number of bytes
  seconds,  ///< a number of seconds
  latency,  ///< an object, in the form of latency figures
};

/// A member of the object in an operation's answer.
struct answer_row {
  std::string_view key = {};
  std::string_view help = {};     ///< one line, lower case, no full stop
  std::string_view choices = {};  ///< `ready|down`: all values of a text; empty: any
  std::string_view column = {};   ///< name for `--columns`; empty: it has no column
  answer_kind kind = answer_kind::text;
  bool is_hidden = false;  ///< the column is shown only on request
};

/// The arguments of an operation.
struct operation_call {
  nlohmann::json parameters = nlohmann::json::object();  ///< by the rows' keys; only those given
  std::string body = {};
  loop::time_point limit = loop::time_point::max();
};

struct operation_row {
  /// The path's last word: `/v1/runtimes/NAME/backends`. Operations of the same name have the same
  /// row in all types, except for `run`.
  std::string_view name = {};
  std::string_view method = "GET";
  std::string_view summary = {};  ///< an imperative, lower case, no full stop
  /// The verb for it; empty: a verb of the same name is generated from the row.
  std::string_view verb = {};
  std::vector<options::option_row> parameters = {};  ///< of the query
  std::size_t required = 0;  ///< number of required ones, the first; words of a verb, not flags
  std::string_view body_type = {};  ///< a media type; empty: it has no body
  std::string_view schema = {};     ///< name of the answer in the API's description
  /// Empty: it returns nothing, and the API answers with the runtime's state.
  std::span<const answer_row> answer = {};
  bool is_list = false;  ///< the answer is an array of such objects
  role needed = role::read;
  double timeout_s = 0;  ///< default of the parameter `timeout`; 0: there is none
  /// It waits for operations under way on the runtime, such as a stop. False for an operation that
  /// may be waited for by one of these.
  bool is_in_turn = true;
  bool is_change = false;   ///< the daemon's log names the client
  bool is_lengthy = false;  ///< callers wait for its end without a limit, unless they set one
  /// The runtime is of the row's type, and runs. Errors: the operation's own.
  loop::task<result<nlohmann::json>> (*run)(runtime& runtime, operation_call call) = nullptr;
  /// In place of `run`: the API's caller opens a WebSocket, over which it holds the session.
  loop::task<result<std::unique_ptr<session>>> (*open)(runtime& runtime,
                                                       operation_call call) = nullptr;
};

/// Checks the arguments of `call` against the row. Errors: invalid_argument.
[[nodiscard]] result<void> check_call(const operation_row& row, const operation_call& call);

/// Null if there is none.
[[nodiscard]] const operation_row* find_operation(std::span<const operation_row> rows,
                                                  std::string_view name);

/// Makes a row's `run` from a member function of the type's class.
template <auto Method>
struct operation_method;

template <class Runtime, loop::task<result<nlohmann::json>> (Runtime::*Method)(operation_call call)>
struct operation_method<Method> {
  static loop::task<result<nlohmann::json>> run(runtime& runtime, operation_call call) {
    return (static_cast<Runtime&>(runtime).*Method)(std::move(call));
  }
};

/// Makes a row's `open`, likewise.
template <class Runtime,
          loop::task<result<std::unique_ptr<session>>> (Runtime::*Method)(operation_call call)>
struct operation_method<Method> {
  static loop::task<result<std::unique_ptr<session>>> open(runtime& runtime, operation_call call) {
    return (static_cast<Runtime&>(runtime).*Method)(std::move(call));
  }
};

/// The result of sending a message.
struct send_outcome {
  std::uint64_t delivered = 0;  ///< connections that took it
  std::uint64_t queued = 0;     ///< 1 if it waits for a connection
};

/// The answer of the operation `send`.
[[nodiscard]] nlohmann::json json_of(const send_outcome& outcome);

/// `send`, which several types have: `run` passes on the call's body as one message.
[[nodiscard]] operation_row sending_operation(decltype(operation_row::run) run,
                                              std::vector<options::option_row> parameters = {});

}  // namespace strata::runtime
