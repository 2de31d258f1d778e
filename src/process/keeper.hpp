// The keeper of a program: a small process that is the program's parent in the daemon's place, so
// that the program outlives a daemon that crashes or is replaced.
//
// It is this executable, started with `keeper_word` as its first argument by `start_keeper`
// (keeper_link.hpp), which also has the daemon's end of the connection. It has one thread and no
// loop, and waits in poll(2) until the program has ended and a daemon knows it. It keeps the read
// end of the program's output, the socket of its notifications and its listening socket, and hands
// them to each daemon of the same user that connects to its socket in the state folder. While no
// daemon is connected and that socket's file is gone, nobody can find it: then it ends the program.
//
// Messages are packets (SOCK_SEQPACKET), JSON from the keeper and one letter from the daemon:
//   {"error": 2}                      the program could not be started, for this errno
//   {"protocol": 1, "keeper": 4710, "process": 4711, "start_ticks": 1234, "is_ready": false,
//    "has_notifications": true, "has_socket": false, "note": …}
//                                     the first message of each connection, with descriptors: the
//                                     output, a pidfd, and the two sockets that it has
//   {"exit_code": 7, "signal": 0}     the program has ended
#pragma once

#include <string_view>

namespace strata::process {

inline constexpr std::string_view keeper_word = "--keep-program";
/// The version of the messages.
inline constexpr int keeper_protocol = 1;

/// What a daemon orders.
enum class keeper_order : char {
  note_ready = 'r',   ///< the program has become ready: the next daemon is to know
  end = 'e',          ///< end the program, by its stop signal and then SIGKILL
  acknowledge = 'a',  ///< the end of the program is known: the keeper ends too
};

/// The descriptors with which a keeper is started, by their numbers.
enum keeper_descriptor : int {
  handed_over_socket = 3,
  daemon_connection,
  program_output,
  socket_folder,
  keeper_listener,
  notification_socket,
};

/// Whether these are the arguments of a keeper.
[[nodiscard]] bool is_keeper(int count, char** arguments);
/// Runs a program and keeps it until its end. Returns the exit code of the keeper.
[[nodiscard]] int run_keeper(int count, char** arguments);

}  // namespace strata::process
