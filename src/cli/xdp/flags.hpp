// The flags of the xdp verbs, and the sockets opened with them.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "cli/l2/open_socket.hpp"
#include "strata/wire/udp.hpp"
#include "strata/xdp/broker.hpp"
#include "strata/xdp/program.hpp"
#include "strata/xdp/socket.hpp"

namespace strata::cli {

/// Frames that a verb takes from a ring at a time.
inline constexpr std::uint32_t batch = 64;

/// -q, -w, -z and --busy-poll.
[[nodiscard]] std::uint32_t queue_flag(const invocation& call);
/// -c: the number of frames; unlimited by default.
[[nodiscard]] std::uint64_t count_flag(const invocation& call);
/// --timeout: the silence after which the verb ends.
[[nodiscard]] std::optional<std::chrono::steady_clock::duration> silence_flag(
    const invocation& call);
[[nodiscard]] xdp::socket_options socket_flags(const invocation& call);
/// --mode. Errors: misused.
[[nodiscard]] outcome<xdp::attach_mode> attach_flag(const invocation& call);
/// --ethertype, --vlan, --udp-port and --dst. Errors: misused.
[[nodiscard]] outcome<xdp::filter> filter_flags(const invocation& call);
/// Parses "10.0.0.1:9000". Errors: misused, naming the flag.
[[nodiscard]] outcome<wire::udp_endpoint> udp_flag(const invocation& call, std::string_view key,
                                                   std::string_view otherwise);

/// A socket, and the program that directs frames to it.
struct open_queue {
  xdp::socket socket;
  bool is_native = false;
  std::string reason;  ///< why not native mode, if that was tried
  std::optional<xdp::route> brings;
  unique_fd connection;  ///< to the daemon that opened it
};
/// Opens a queue of interface `name`, in this process or, with --through-daemon, in the daemon. The
/// filter and mode come from the flags if `options` has a receive ring.
[[nodiscard]] outcome<open_queue> open_queue_of(const invocation& call, const std::string& name,
                                                const xdp::socket_options& options);

}  // namespace strata::cli
