// AF_XDP as frames instead of rings: one queue of an interface with its own memory, program and
// frames.
//
// Owns everything. Its `try_` calls never block: poll `fd()`. One thread at a time. Needs
// CAP_NET_RAW, and to receive also CAP_NET_ADMIN and CAP_BPF. Linux 6.1 or newer.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "strata/base/bytes.hpp"
#include "strata/xdp/broker.hpp"
#include "strata/xdp/program.hpp"
#include "strata/xdp/socket.hpp"

namespace strata::xdp {

struct port_options {
  filter which;
  attach_mode attach = attach_mode::automatic;
  umem_options memory;
  /// A port with a `receive_size` of 0 only sends, and attaches no program.
  socket_options socket;
};

class port {
 public:
  /// Errors: those of `umem`, `socket` and `program`.
  [[nodiscard]] static result<port> open(std::string_view interface_name, std::uint32_t queue,
                                         const port_options& options = {});
  /// As `open`, but a daemon creates the socket for a process without privileges. Errors: those of
  /// `xdp::open_through_daemon`.
  [[nodiscard]] static result<port> open_through_daemon(
      std::string_view interface_name, std::uint32_t queue, const port_options& options = {},
      const std::string& path = broker::default_path());
  port(port&&) noexcept = default;
  port& operator=(port&&) noexcept = default;

  [[nodiscard]] int fd() const { return socket_.fd(); }
  /// Sets the interface's current MTU; the port read it when it was opened.
  void update_mtu(std::uint32_t now) { mtu_ = now; }
  /// Reports whether its program runs in the driver; false for a port that only sends.
  [[nodiscard]] bool is_native() const { return is_native_; }
  [[nodiscard]] bool receives() const { return socket_.has_receive_ring(); }
  [[nodiscard]] socket& below() { return socket_; }
  [[nodiscard]] const socket& below() const { return socket_; }

  /// Copies frames into the UMEM and sends them in order; returns how many were accepted, 0 if
  /// there is no room now. Errors: limit_exceeded (EMSGSIZE) for a frame above the interface's MTU,
  /// which the kernel would accept and drop silently; invalid_argument for a frame longer than a
  /// chunk, unless the socket is `multi_buffer`; those of the link. Frames before the failed one
  /// were accepted.
  [[nodiscard]] result<std::size_t> try_send(std::span<const byte_span> frames);

  /// Points `frames` to the received frames, in order, and returns how many; 0 if none is waiting.
  /// They are valid until the next call.
  [[nodiscard]] result<std::size_t> try_receive(std::span<byte_span> frames);

  [[nodiscard]] result<bool> wait_readable(std::optional<std::chrono::milliseconds> timeout) const {
    return socket_.wait_readable(timeout);
  }
  [[nodiscard]] result<socket_statistics> statistics() const { return socket_.statistics(); }
  /// The number of chunks passed to the kernel whose sending it has not confirmed.
  [[nodiscard]] std::size_t in_flight() const { return in_flight_; }
  /// Waits until the kernel has sent everything, for at most `timeout` (forever without one).
  /// Returns false on timeout. Polls every 50 us, since the kernel sends no notification. Errors:
  /// those of `try_send`.
  [[nodiscard]] result<bool> flush(std::optional<std::chrono::milliseconds> timeout = std::nullopt);

 private:
  port(socket socket, std::string name, bool is_multi_buffer);
  [[nodiscard]] result<void> read_mtu();
  [[nodiscard]] bool fits(byte_span frame) const;
  [[nodiscard]] std::optional<error> refusal_of(byte_span frame) const;
  void reap();
  void give_back();
  [[nodiscard]] bool queue(byte_span frame);
  [[nodiscard]] result<void> push();

  unique_fd connection_;  // to the daemon that created the socket
  socket socket_;
  std::string name_;  // of the interface, at open
  std::uint32_t mtu_ = 0;
  bool is_multi_buffer_;
  bool is_native_ = false;
  std::optional<route> route_;
  std::vector<std::uint64_t> free_;      // to send from
  std::vector<std::uint64_t> returned_;  // read by the caller, to be refilled by the kernel
  std::size_t in_flight_ = 0;            // chunks
  std::vector<std::byte> partial_;       // of a frame in several chunks
  std::vector<std::vector<std::byte>> assembled_;
};

}  // namespace strata::xdp
