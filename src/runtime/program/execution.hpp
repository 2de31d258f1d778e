// A command that runs beside a program for a caller: what the caller sends is its input, what it
// prints goes to the caller. It ends with the caller's connection.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "process/pseudo_terminal.hpp"
#include "runtime/program/command.hpp"
#include "runtime/program/options.hpp"
#include "runtime/runtime.hpp"
#include "runtime/session.hpp"

namespace strata::runtime::program {

struct execution_order {
  std::vector<std::string> words;
  bool takes_input = false;  ///< else its input is empty
  std::string terminal;      ///< the value of TERM; empty: it has no terminal, but pipes
  process::terminal_size size;
};

/// Starts the command beside an instance. Errors: those of `launch_beside`; not_found if there is
/// no such command or folder; the system has no room for another process.
[[nodiscard]] result<std::unique_ptr<session>> execute(const context& context,
                                                       const program_options& options,
                                                       const place_values& values,
                                                       execution_order order);

}  // namespace strata::runtime::program
