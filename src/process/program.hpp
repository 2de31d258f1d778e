// Another program, as a child process.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "process/child.hpp"
#include "strata/base/result.hpp"

namespace strata::process {

struct program {
  /// The program, as a path or a name to find in PATH, and its arguments.
  std::vector<std::string> words;
  /// Descriptors that become its standard input and output; -1: those of this process.
  int input = -1;
  int output = -1;
  /// Signals that are reset to their defaults, although this process handles or ignores them.
  std::span<const int> usual_signals = {};
};

/// Starts it, with the environment and standard error of this process. Errors: not_found if there
/// is no such program; permission_denied.
[[nodiscard]] result<child> start(program program);

}  // namespace strata::process
