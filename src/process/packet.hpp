// A packet with descriptors (SCM_RIGHTS) on a SOCK_SEQPACKET connection between two processes of
// this machine. Neither end waits.
#pragma once

#include <sys/types.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "strata/base/result.hpp"
#include "strata/base/unique_fd.hpp"

namespace strata::process {

inline constexpr std::size_t most_packet_bytes = 65536;
/// Fewer than the kernel's SCM_MAX_FD.
inline constexpr std::size_t most_packet_descriptors = 200;

struct packet {
  std::string text;
  std::vector<unique_fd> descriptors;
};

/// Sends copies of the descriptors, at most `most_packet_descriptors`. Returns false if the other
/// end is closed, or has no room.
bool send_packet(int connection, std::string_view text, std::span<const int> descriptors = {});
/// Returns the packet that has come; nullopt if none has. Errors: connection_closed if none will
/// come; malformed if it is longer than `most_packet_bytes`.
[[nodiscard]] result<std::optional<packet>> receive_packet(int connection);
/// The process and the user at the other end, as the kernel attests them; nullopt if it cannot.
struct packet_peer {
  pid_t process = 0;
  uid_t user = 0;
};
[[nodiscard]] std::optional<packet_peer> peer_of(int connection);

}  // namespace strata::process
