// A netlink socket (netlink(7)): requests, replies, dumps and multicast.
//
// Asking allocates nothing; views of what was received are valid until the next call. The kernel
// answers a request before send() returns, so an exchange takes two system calls. For one thread at
// a time. Use one connection to ask and another to listen: what is multicast while a reply is
// awaited is passed over. Linux 6.1 or newer.
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
  /// The kernel's words about what is wrong with a request, for one more system call when opening.
  bool extended_acks = true;
  /// SO_RCVBUF, in bytes; what is multicast above it is lost. 0: as the kernel has it.
  std::size_t receive_buffer = 0;
  /// Of the largest request, and of the largest datagram that is received, in bytes. The kernel
  /// writes dumps in pieces of 32 KiB at most.
  std::size_t largest_message = 32768;
  /// Longest wait for a reply.
  std::chrono::milliseconds patience{5000};
  /// Size of the family's own header, for the place that an extended ACK names.
  std::size_t family_header = 0;
};

/// The attribute that an extended ACK complained of, as types from the outermost in; 0 ends it,
/// at its beginning when none was named.
struct refused_attribute {
  wire::netlink_attributes::path path{};
  bool is_missing = false;
};

class connection {
 public:
  /// `protocol` is NETLINK_GENERIC, NETLINK_ROUTE, … Errors: not_supported when this kernel has no
  /// such protocol.
  [[nodiscard]] static result<connection> open(int protocol,
                                               const connection_options& options = {});

  [[nodiscard]] int fd() const { return fd_.get(); }

  /// An empty request in the connection's own memory.
  [[nodiscard]] wire::netlink_writer request();

  /// Sends the request, and waits for its reply; with NLM_F_ACK also for the ACK, which is the
  /// reply when there is no other. `operation` is for errors: "ask for the family 'x'".
  ///
  /// Errors: those of the kernel, with its text and the offset in the request; limit_exceeded when
  /// the request or the reply is above `largest_message`; timed_out.
  [[nodiscard]] result<wire::netlink_message> ask(wire::netlink_writer& request,
                                                  std::string_view operation);

  /// Sends a request with NLM_F_DUMP, and hands each message over. Errors: as `ask`; conflict when
  /// what was dumped changed meanwhile (NLM_F_DUMP_INTR): ask again.
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

  /// Hears that multicast group from now on, or no longer. Errors: permission_denied; not_found.
  [[nodiscard]] result<void> join(std::uint32_t group);
  [[nodiscard]] result<void> leave(std::uint32_t group);
  /// The next message that was multicast; nullopt when none has come. Waits for none: poll `fd()`.
  /// Errors: limit_exceeded (ENOBUFS) when some were lost: look at the whole state again.
  [[nodiscard]] result<std::optional<wire::netlink_message>> try_event();

  /// What came with the last ACK: nl_set_extack_cookie_u64 in the kernel. Empty when nothing did.
  [[nodiscard]] byte_span cookie() const;
  /// Where the last request that the kernel refused was wrong.
  [[nodiscard]] const refused_attribute& refused() const { return refused_; }

 private:
  connection(unique_fd fd, const connection_options& options);
  [[nodiscard]] std::byte* received() const { return memory_.get() + options_.largest_message; }
  [[nodiscard]] result<void> send(wire::netlink_writer& request, std::string_view operation);
  /// The next message of the kernel's, if there is one; reads a datagram when none is left, behind
  /// this number of bytes that are to stay.
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
  // Half of it to send, half to receive. Untouched pages cost nothing.
  std::unique_ptr<std::byte[]> memory_;
  byte_span request_;  // in memory_, of the last one
  byte_span unread_;   // in memory_
  byte_span cookie_;   // in memory_
  refused_attribute refused_;
  std::uint32_t sequence_ = 0;
  bool is_bound_ = false;         // to a port of its own
  bool was_interrupted_ = false;  // the dump
};

}  // namespace strata::nl
