// The daemon's end of a keeper (keeper.hpp): starts one, finds one that an earlier daemon has
// started, and sends it orders. Connections do not wait: the caller polls them.
#pragma once

#include <string>
#include <vector>

#include "process/child.hpp"
#include "process/keeper.hpp"
#include "process/packet.hpp"
#include "process/program.hpp"
#include "strata/base/result.hpp"
#include "strata/base/unique_fd.hpp"

namespace strata::process {

/// A program for a keeper. The descriptors stay the caller's; -1: there is none.
struct kept_program {
  /// Words, environment, folder and signals; output and error are a pipe, the input is empty.
  process::program program;
  int socket = -1;         ///< a listening socket, which becomes the program's descriptor 3
  int notifications = -1;  ///< the socket of its notifications
  int folder = -1;         ///< where the keeper's socket lies; without one no other daemon finds it
  std::string name;        ///< of that socket
  std::string note;        ///< JSON that the keeper's first message has
  int stop_signal = 0;     ///< ends the program, with SIGKILL after `grace_ms`
  std::int64_t grace_ms = 0;
};

/// A keeper that this process has started. Its first message says whether the program runs.
struct started_keeper {
  child process;
  unique_fd connection;
};

/// Starts a keeper, which starts the program. A file of the socket's name is removed. Errors: no
/// process can be started; the socket cannot be made.
[[nodiscard]] result<started_keeper> start_keeper(kept_program program);
/// Connects to the keeper whose socket has that name; a file with no keeper behind it is removed.
/// Errors: not_found if there is no keeper; permission_denied if it is another user's.
[[nodiscard]] result<unique_fd> connect_to_keeper(int folder, const std::string& name);
/// Returns false if the keeper is gone.
bool send_order(int connection, keeper_order order);
void remove_keeper_file(int folder, const std::string& name);

}  // namespace strata::process
