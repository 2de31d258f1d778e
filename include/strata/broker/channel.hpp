// How a process without privileges gets a socket from a privileged daemon: one request and one
// reply with descriptors (SCM_RIGHTS) over a SOCK_SEQPACKET connection, which both keep as long as
// the socket is used.
//
// `xdp/broker.hpp` and `l2/broker.hpp` define the requests and the replies; the daemon supplies the
// policy. Both ends are processes on one machine: messages are structures as they lie in memory.
// Each connection is for one thread.
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

/// The kind of the requested socket. The numbers change with the message format behind them.
enum class kind : std::uint32_t { xdp = 0x58440002, packet = 0x504B0002 };

/// The most descriptors in a reply.
constexpr std::size_t most_descriptors = 2;
/// The most bytes in the message of a request or reply.
constexpr std::size_t most_bytes = 512;

/// The daemon's default listening path: $STRATA_BROKER_SOCKET, or /run/strata/broker.sock.
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
/// Reports whether the name is terminated and safe to use in messages and logs: it comes from
/// another process.
[[nodiscard]] bool is_name(const name& name);

// --- the end of the process that asks

/// A daemon's reply.
struct reply {
  std::array<unique_fd, most_descriptors> descriptors;
  unique_fd connection;  ///< close it last: the daemon then undoes what it attached
};

/// Sends the request and waits for the reply for at most 10 s. Writes the reply's message to
/// `answer`, whose size must be the message's.
///
/// Errors: not_found or permission_denied if no daemon can be reached at `path`; timed_out;
/// malformed if the reply is of another version; and the daemon's refusal, in its words.
[[nodiscard]] result<reply> ask(const std::string& path, kind kind, byte_span request,
                                mutable_byte_span answer);

// --- the daemon's end

/// The requesting process, as the kernel reports it.
struct peer {
  std::uint32_t user = 0;
  std::vector<std::uint32_t> groups;  ///< primary and supplementary
  std::int32_t process = 0;
};
[[nodiscard]] result<peer> peer_of(int connection);

/// A request as received, unchecked.
struct request {
  kind of = kind::xdp;
  std::vector<std::byte> message;
};
/// Reads the request that has arrived. Errors: malformed; connection_closed if none will arrive.
[[nodiscard]] result<request> read_request(int connection);
/// Sends a reply with descriptors. Does not wait. Errors: those of the connection.
[[nodiscard]] result<void> hand_over(int connection, byte_span message,
                                     std::span<const int> descriptors);
void refuse(int connection, const error& why);

}  // namespace strata::broker
