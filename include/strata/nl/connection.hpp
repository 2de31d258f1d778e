// A netlink socket (netlink(7)): requests, replies, dumps and multicast.
//
// A request allocates nothing; views of received messages are valid until the next call. The kernel
// answers a request before send() returns, so an exchange takes two system calls. For one thread at
// a time. Use one connection for requests and another for multicast: multicast messages that arrive
// during the wait for a reply are skipped. Linux 6.1 or newer.
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "strata/base/result.hpp"
#include "strata/base/unique_fd.hpp"
#include "strata/wire/netlink.hpp"

namespace strata::nl {

struct connection_options {
  /// Requests extended ACKs, the kernel's text on what is wrong with a request, for one more system
  /// call when opening.
  bool extended_acks = true;
  /// SO_RCVBUF, in bytes; multicast messages beyond it are lost. 0 keeps the kernel's default.
  std::size_t receive_buffer = 0;
  /// The size of the largest request, and of the largest datagram received, in bytes. The kernel
  /// writes dumps in pieces of at most 32 KiB.
  std::size_t largest_message = 32768;
  /// The longest wait for a reply.
  std::chrono::milliseconds patience{5000};
  /// The size of the family's own header, to locate the attribute that an extended ACK names.
  std::size_t family_header = 0;
};

/// The attribute that an extended ACK names, as types from the outermost inward, terminated by 0;
/// an empty path if it names none.
struct refused_attribute {
  wire::netlink_attributes::path path{};
  bool is_missing = false;
};

class connection {
 public:
  /// `protocol` is NETLINK_GENERIC, NETLINK_ROUTE, … Errors: not_supported if this kernel lacks the
  /// protocol.
  [[nodiscard]] static result<connection> open(int protocol,
                                               const connection_options& options = {});

  [[nodiscard]] int fd() const { return fd_.get(); }

  /// Returns an empty request in the connection's own memory.
  [[nodiscard]] wire::netlink_writer request();

  /// Sends the request and waits for its reply; with NLM_F_ACK also for the ACK, which is the reply
  /// if there is no other. `operation` is for errors: "ask for the family 'x'".
  ///
  /// Errors: those of the kernel, with its text and the offset in the request; limit_exceeded if
  /// the request or the reply exceeds `largest_message`; timed_out.
  [[nodiscard]] result<wire::netlink_message> ask(wire::netlink_writer& request,
                                                  std::string_view operation);

  /// Sends a request with NLM_F_DUMP and calls `each` with each message. Errors: as `ask`; conflict
  /// if the dumped state changed meanwhile (NLM_F_DUMP_INTR): repeat the request.
  template <std::invocable<const wire::netlink_message&> Each>
  [[nodiscard]] result<void> dump(wire::netlink_writer& request, std::string_view operation,
                                  Each&& each) {
    if (auto sent = send(request, operation); !sent) return sent;
    for (;;) {
      auto next = next_of_dump(operation);
      if (!next) return std::unexpected(next.error());
      if (!*next) return {};
      each(**next);
    }
  }

  /// Joins or leaves a multicast group. Errors: permission_denied; not_found.
  [[nodiscard]] result<void> join(std::uint32_t group);
  [[nodiscard]] result<void> leave(std::uint32_t group);
  /// Returns the next multicast message, or nullopt if there is none. Does not wait: poll `fd()`.
  /// Errors: limit_exceeded (ENOBUFS) if messages were lost: read the whole state again.
  [[nodiscard]] result<std::optional<wire::netlink_message>> try_event();

  /// Returns the cookie of the last ACK (nl_set_extack_cookie_u64 in the kernel); empty if it had
  /// none.
  [[nodiscard]] byte_span cookie() const;
  /// Returns the attribute at fault in the last request that the kernel rejected.
  [[nodiscard]] const refused_attribute& refused() const { return refused_; }

 private:
  connection(unique_fd fd, const connection_options& options);
  [[nodiscard]] std::byte* received() const { return memory_.get() + options_.largest_message; }
  [[nodiscard]] result<void> send(wire::netlink_writer& request, std::string_view operation);
  /// Returns the next message from the kernel, if there is one. If none is left in memory, reads a
  /// datagram behind the first `keep` bytes, which are kept.
  [[nodiscard]] result<std::optional<wire::netlink_message>> next_message(std::size_t keep);
  [[nodiscard]] result<wire::netlink_message> next_reply(std::string_view operation,
                                                         std::size_t keep);
  [[nodiscard]] result<std::optional<wire::netlink_message>> next_of_dump(
      std::string_view operation);
  [[nodiscard]] result<void> wait(std::string_view operation) const;
  [[nodiscard]] refused_attribute named_by(const wire::netlink_ack& ack) const;
  [[nodiscard]] error refusal(const wire::netlink_ack& ack, std::string_view operation);

  unique_fd fd_;
  connection_options options_;
  // Half for sending, half for receiving. Untouched pages cost nothing.
  std::unique_ptr<std::byte[]> memory_;
  byte_span request_;  // in memory_, the last one
  byte_span unread_;   // in memory_
  byte_span cookie_;   // in memory_
  refused_attribute refused_;
  std::uint32_t sequence_ = 0;
  bool is_bound_ = false;         // to its own port
  bool was_interrupted_ = false;  // the dump
};

}  // namespace strata::nl
