// How a process without privileges gets a socket of a daemon that has them: one request, one reply
// with descriptors (SCM_RIGHTS), over a SOCK_SEQPACKET connection that both keep as long as the
// socket is used.
//
// What is asked for, and what is handed over, `xdp/broker.hpp` and `l2/broker.hpp` say; the daemon
// brings the policy. Both ends are processes of one machine: messages are structures as they lie in
// memory. For one thread a connection.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "strata/base/bytes.hpp"
#include "strata/base/result.hpp"
#include "strata/base/unique_fd.hpp"

namespace strata::broker {

/// What kind of socket is asked for. The numbers change with the message behind them.
enum class kind : std::uint32_t { xdp = 0x58440002, packet = 0x504B0002 };

/// Descriptors of one reply, at most.
constexpr std::size_t most_descriptors = 2;
/// Bytes of a request's or a reply's message, at most.
constexpr std::size_t most_bytes = 512;

/// Where the daemon listens when nobody says otherwise: $STRATA_BROKER_SOCKET, or
/// /run/strata/broker.sock.
[[nodiscard]] std::string default_path();

/// The bytes of a message.
template <class Message>
[[nodiscard]] byte_span bytes_of(const Message& message) {
  static_assert(std::is_trivially_copyable_v<Message> && sizeof(Message) <= most_bytes);
  return std::as_bytes(std::span(&message, 1));
}

/// An interface's name in a message.
using name = std::array<char, 16>;
[[nodiscard]] name name_in_message(std::string_view interface_name);
/// Whether it ends, and may go into sentences and logs: it came from somebody else.
[[nodiscard]] bool is_name(const name& name);

// --- the end of the process that asks

/// What a daemon handed over.
struct reply {
  std::array<unique_fd, most_descriptors> descriptors;
  unique_fd connection;  ///< close it last: the daemon takes back then what it attached
};

/// Sends the request and waits for the reply, 10 s at most; its message goes into `answer`, whose
/// size is its size.
///
/// Errors: not_found or permission_denied when no daemon can be reached at `path`; timed_out;
/// malformed when the reply is not of this version; and whatever the daemon refused with, in its
/// words.
[[nodiscard]] result<reply> ask(const std::string& path, kind kind, byte_span request,
                                mutable_byte_span answer);

// --- the daemon's end

/// Who asks, as the kernel tells.
struct peer {
  std::uint32_t user = 0;
  std::vector<std::uint32_t> groups;  ///< its own and the others
  std::int32_t process = 0;
};
[[nodiscard]] result<peer> peer_of(int connection);

/// A request as it came: not yet looked at.
struct request {
  kind of = kind::xdp;
  std::vector<std::byte> message;
};
/// The one that has come. Errors: malformed; connection_closed when there will be none.
[[nodiscard]] result<request> read_request(int connection);
/// Does not wait. Errors: of the connection.
[[nodiscard]] result<void> hand_over(int connection, byte_span message,
                                     std::span<const int> descriptors);
void refuse(int connection, const error& why);

}  // namespace strata::broker
