// Another program, as a child process.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "process/child.hpp"
#include "strata/base/result.hpp"

namespace strata::process {

struct program {
  /// The program, as a path or a name that PATH finds, and its arguments.
  std::vector<std::string> words;
  /// Descriptors that become its standard input and output; -1: those of this process.
  int input = -1;
  int output = -1;
  /// Signals that do what they usually do, although this process handles or ignores them.
  std::span<const int> usual_signals = {};
};

/// Starts it; its environment and standard error are those of this process. Errors: not_found when
/// there is no such program; permission_denied.
[[nodiscard]] result<child> start(program program);

}  // namespace strata::process
