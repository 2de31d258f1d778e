// Unix sockets for packets (SOCK_SEQPACKET): for what passes descriptors between processes.
#pragma once

#include <sys/types.h>

#include <string>

#include "strata/base/result.hpp"
#include "strata/base/unique_fd.hpp"

namespace strata::loop {

/// Listens at `path`, with this mode; the accepting end does not block. Takes the socket from the
/// process's shelf if it lies there; removes one that an earlier process has left at the path.
/// Errors, with `operation`: already_exists if another process listens there, or another file is
/// there.
[[nodiscard]] result<unique_fd> listen_for_packets(const std::string& path, mode_t mode,
                                                   const std::string& operation);

/// Connects to `path`. Errors: those of connect(2), with `operation`.
[[nodiscard]] result<unique_fd> connect_for_packets(const std::string& path,
                                                    const std::string& operation);

/// Whether the listener of this connected Unix socket, of whichever type, belongs to a process that
/// has ended. The kernel may take a while to release the resources of a killed process's io_uring,
/// including a listening socket. The listener is identified by the process that has called
/// listen(2).
[[nodiscard]] bool is_of_the_dead(const unique_fd& connected);

}  // namespace strata::loop
