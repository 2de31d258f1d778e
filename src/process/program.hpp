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
  /// The file to run in place of the first word, which stays its name; empty: the first word.
  std::string file = {};
  /// Descriptors that become its standard input, output and error; -1: those of this process.
  int input = -1;
  int output = -1;
  int error = -1;
  /// Path of a terminal in place of the three: the program's session controls it, so the program
  /// must lead one. Empty: none.
  std::string terminal = {};
  /// Become its descriptors 3, 4, …; -1: it has none of that number.
  std::vector<int> handed_over = {};
  /// Its environment beside that of this process: `NAME=VALUE` sets a variable, `NAME` removes it.
  std::vector<std::string> environment = {};
  /// Its working directory; empty: that of this process.
  std::string folder = {};
  /// Whether it leads a session and a process group of its own, which a signal reaches with all
  /// that it has started.
  bool is_leader = false;
  /// Signals that are reset to their defaults, although this process handles or ignores them.
  std::span<const int> usual_signals = {};
};

/// Starts it; no signal is blocked for it. Errors: not_found if there is no such program or folder;
/// permission_denied.
[[nodiscard]] result<child> start(program program);

}  // namespace strata::process
