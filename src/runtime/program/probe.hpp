// Checks whether a program serves: at its port, or by the answer to a request.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "loop/loop.hpp"
#include "loop/task.hpp"
#include "runtime/program/options.hpp"

namespace strata::runtime::program {

inline constexpr std::string_view http_prefix = "http:";

/// Reports whether `port` on 127.0.0.1 accepts a connection and, if `path` is not empty, answers a
/// GET of it with 2xx or 3xx. A connection and an answer may take a second each.
[[nodiscard]] loop::task<bool> answers(loop::loop& loop, std::string port, std::string path);

/// Whether a program can listen at `port` on 127.0.0.1 now. Errors: those of the system, such as a
/// port that needs a right.
[[nodiscard]] result<bool> is_port_free(const std::string& port);

/// Waits until it answers: until `limit`, or until `is_awaited` returns false. Reports whether it
/// does.
[[nodiscard]] loop::task<bool> comes_to_answer(loop::loop& loop, std::string port, std::string path,
                                               loop::time_point limit,
                                               std::function<bool()> is_awaited);

/// The path of `http:/PATH`; empty for everything else.
[[nodiscard]] inline std::string path_of(std::string_view condition) {
  return std::string(condition.starts_with(http_prefix) ? condition.substr(http_prefix.size())
                                                        : std::string_view());
}

/// Makes `check` at the interval of the options until as many in a row have failed as they allow,
/// and then returns true; returns false once `is_watched` does.
[[nodiscard]] loop::task<bool> fails_checks(loop::loop& loop, const program_options& options,
                                            std::function<loop::task<bool>()> check,
                                            std::function<bool()> is_watched);

}  // namespace strata::runtime::program
