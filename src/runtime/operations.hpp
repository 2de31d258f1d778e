// What a runtime can be asked for that is not its state, as rows of its type. From a row come the
// route of the control API and its description, the verb of the command line with its help and
// table, and what scripts ask by `strata.ask`. A new operation is a row in its type's table and the
// function that the row names.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "loop/loop.hpp"
#include "options/option_table.hpp"

namespace strata::runtime {

class runtime;

/// What a caller has to be. Each may do what those before it may.
enum class role : std::uint8_t {
  read,     ///< sees what there is
  operate,  ///< has runtimes work, as their options allow
  admin,    ///< has them do whatever the daemon may
};

[[nodiscard]] std::string_view name_of(role role);
/// Nullopt: no role has that name.
[[nodiscard]] std::optional<role> find_role(std::string_view name);

enum class answer_kind : std::uint8_t {
  text,     ///< a JSON string
  count,    ///< a whole number
  flag,     ///< true or false
  texts,    ///< an array of strings
  counts,   ///< an object of whole numbers
  bytes,    ///< a whole number of them
  seconds,  ///< a number of them
  latency,  ///< an object, as figures of that kind are shown
};

/// A member of the object that an operation answers with.
struct answer_row {
  std::string_view key = {};
  std::string_view help = {};     ///< one line, lower case, no full stop
  std::string_view choices = {};  ///< `ready|down`: all that a text can be; empty: anything
  std::string_view column = {};   ///< as `--columns` names it; empty: there is none
  answer_kind kind = answer_kind::text;
  bool is_hidden = false;  ///< the column is shown only where it is asked for
};

/// What is asked, and with what.
struct operation_call {
  nlohmann::json parameters = nlohmann::json::object();  ///< by the rows' keys; those given
  std::string body = {};
  loop::time_point limit = loop::time_point::max();
};

struct operation_row {
  /// The path's last word: `/v1/runtimes/NAME/backends`. Types that have an operation of the same
  /// name have the same row, but for `run`.
  std::string_view name = {};
  std::string_view method = "GET";
  std::string_view summary = {};  ///< a command, lower case, no full stop
  /// The verb that asks for it; empty: of the same name, made from the row.
  std::string_view verb = {};
  std::vector<options::option_row> parameters = {};  ///< of the query
  std::size_t required = 0;  ///< of the parameters: the first ones; a verb's words, not its flags
  std::string_view body_type = {};  ///< a media type; empty: it takes no body
  std::string_view schema = {};     ///< the answer's name in the API's description
  /// Empty: it gives nothing, and the API answers with the runtime as it then is.
  std::span<const answer_row> answer = {};
  bool is_list = false;  ///< it answers with an array of such objects
  role needed = role::read;
  double timeout_s = 0;  ///< it takes `timeout`, which is this if not given; 0: it takes none
  /// It waits for what is under way with the runtime, such as a stop. One that may itself be waited
  /// for by that does not.
  bool is_in_turn = true;
  bool is_change = false;  ///< the daemon's log says who asked
  /// The runtime is of the row's type, and runs. Errors: the operation's own.
  loop::task<result<nlohmann::json>> (*run)(runtime& runtime, operation_call call) = nullptr;
};

/// Whether the row takes what `call` gives. Errors: invalid_argument.
[[nodiscard]] result<void> check_call(const operation_row& row, const operation_call& call);

/// null where there is none.
[[nodiscard]] const operation_row* find_operation(std::span<const operation_row> rows,
                                                  std::string_view name);

/// For a row's `run`: a member function of the type's class.
template <auto Method>
struct operation_method;

template <class Runtime, loop::task<result<nlohmann::json>> (Runtime::*Method)(operation_call call)>
struct operation_method<Method> {
  static loop::task<result<nlohmann::json>> run(runtime& runtime, operation_call call) {
    return (static_cast<Runtime&>(runtime).*Method)(std::move(call));
  }
};

/// What has become of a message that was sent.
struct send_outcome {
  std::uint64_t delivered = 0;  ///< connections that it was handed to
  std::uint64_t queued = 0;     ///< 1 when it waits for a connection
};

/// As the operation `send` answers.
[[nodiscard]] nlohmann::json json_of(const send_outcome& outcome);

/// `send`, which several types have: `run` passes the call's body on as one message.
[[nodiscard]] operation_row sending_operation(decltype(operation_row::run) run,
                                              std::vector<options::option_row> parameters = {});

}  // namespace strata::runtime
