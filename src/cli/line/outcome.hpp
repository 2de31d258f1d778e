// The result of a verb. The command line is where errors become text, so a failure here carries the
// message for the user and the exit code for the shell.
#pragma once

#include <expected>
#include <string>
#include <utility>

#include "strata/base/error.hpp"

namespace strata::cli {

enum exit_code : int {
  exit_done = 0,
  exit_failed = 1,
  exit_misused = 2,
  exit_not_found = 3,
  exit_unreachable = 4,
};

struct refusal {
  exit_code exit = exit_failed;
  std::string message;
};

template <class T = void>
using outcome = std::expected<T, refusal>;

[[nodiscard]] inline std::unexpected<refusal> refuse(exit_code exit, std::string message) {
  return std::unexpected(refusal{exit, std::move(message)});
}

[[nodiscard]] inline std::unexpected<refusal> refuse(exit_code exit, const error& why) {
  return refuse(exit, describe(why));
}

}  // namespace strata::cli
