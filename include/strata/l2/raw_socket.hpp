// Ethernet frames through an AF_PACKET socket (packet(7)). Needs CAP_NET_RAW. Linux 4.20 or newer.
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "strata/base/unique_fd.hpp"
#include "strata/broker/channel.hpp"
#include "strata/l2/device.hpp"
#include "strata/l2/frame_filter.hpp"
#include "strata/l2/sent_frame.hpp"

struct sockaddr_ll;

namespace strata::l2 {

enum class timestamping : std::uint8_t {
  off,
  software,  ///< taken by the kernel
  /// Taken by the network card if it can, otherwise by the kernel: see
  /// `received_frame::is_card_time`. Needs a driver that reports its setting, and CAP_NET_ADMIN
  /// unless the card already takes timestamps. The card's setting for the other direction is kept,
  /// and the previous setting is restored at the end.
  hardware,
};

/// The limit, in bytes, for the memory of one socket's rings (packet_ring, frame_ring), which is
/// also limited to half of the machine's memory. The kernel has no limit of its own.
constexpr std::size_t most_ring_memory = std::size_t{1} << 30U;

class card_stamps;

/// Several sockets that share incoming frames (PACKET_FANOUT). All sockets of a group, of whatever
/// program, have the same interface, mode and flags.
struct fanout {
  enum class mode : std::uint8_t { hash, load_balance, cpu, rollover, random, queue, program };
  std::uint16_t group = 0;
  mode how = mode::hash;
  bool defragment = false;
  /// Creates a new group; `group` is 0. `raw_socket::fanout_group` returns its number, by which
  /// other sockets join. Linux 4.14 or newer.
  bool is_new = false;
  /// For `mode::program`: the descriptor of a loaded BPF program (BPF_PROG_TYPE_SOCKET_FILTER),
  /// which stays the caller's. The program reads the bytes behind the Ethernet header (which lies
  /// at SKF_LL_OFF). Its return value, modulo the number of sockets, is the index of the socket,
  /// from 0 in the order in which they joined.
  int program_fd = -1;
};

struct raw_socket_options {
  frame_filter filter;
  /// If false, creates a socket that only sends and costs the machine's receive path nothing.
  bool receives = true;
  /// Ignores frames that this machine sends on the interface. On lo every frame is also received.
  bool ignore_outgoing = true;
  bool promiscuous = false;
  std::vector<mac_address> multicast;  ///< groups to join
  std::optional<fanout> share;
  /// Passes frames to the driver without its queue: no shaping, and EAGAIN when the driver is busy.
  bool qdisc_bypass = false;
  timestamping timestamps = timestamping::off;  ///< for received frames
  /// For sent frames: `try_sent` returns a report for each. Read the reports: while any is unread,
  /// a poll of the descriptor returns at once (POLLERR), and they occupy the receive buffer.
  timestamping send_timestamps = timestamping::off;
  /// For `send_at` (SO_TXTIME). Linux 4.19 or newer.
  std::optional<send_clock> send_times;
  /// SO_PRIORITY, 0 to 7, for the queueing discipline and, through its map, for a VLAN device's
  /// PCP. A tag that the frame already carries is not changed.
  std::optional<int> priority;
  std::optional<int> busy_poll_us;            ///< SO_BUSY_POLL
  std::optional<std::size_t> receive_buffer;  ///< SO_RCVBUF(FORCE), bytes
  std::optional<std::size_t> send_buffer;     ///< SO_SNDBUF(FORCE), bytes
};

class raw_socket final : public device {
 public:
  /// The most frames that one system call moves.
  static constexpr std::size_t max_batch = 64;

  /// Opens a socket that is bound to `interface_name` from the start: it never receives frames of
  /// another interface. Errors: not_found (no such interface), permission_denied (and how to grant
  /// CAP_NET_RAW), invalid_argument (an impossible option).
  [[nodiscard]] static result<raw_socket> create_bound(std::string_view interface_name,
                                                       const raw_socket_options& options = {});

  /// Opens a socket that receives from all present and future interfaces of this network namespace:
  /// `received_frame::interface_index` is the interface of a frame. `link()` is none of them: its
  /// index is 0, its MTU the largest at present. Send with `send_raw(frame, through)`. Errors:
  /// permission_denied; invalid_argument for options that require one interface (`multicast`,
  /// `promiscuous`, `share`, card timestamps).
  [[nodiscard]] static result<raw_socket> create_on_all(const raw_socket_options& options = {});

  /// As `create_bound`, for a process without CAP_NET_RAW: the daemon at `path` creates the socket,
  /// if its policy allows. The socket's filter and interface cannot be changed afterwards. Errors:
  /// as `create_bound`; not_supported for `share`; those of `broker::ask`.
  [[nodiscard]] static result<raw_socket> open_through_daemon(
      std::string_view interface_name, const raw_socket_options& options = {},
      const std::string& path = broker::default_path());

  raw_socket(raw_socket&&) noexcept;
  raw_socket& operator=(raw_socket&&) noexcept;
  ~raw_socket() override;

  [[nodiscard]] const interface& link() const override { return link_; }
  void update_link(const interface& interface) override { link_ = interface; }
  [[nodiscard]] int fd() const override { return fd_.get(); }

  /// Sends one frame, complete from its destination address on; waits for room as `send_frame`
  /// does. Errors: limit_exceeded (EMSGSIZE: above the interface's MTU), connection_closed
  /// (ENETDOWN), timed_out.
  [[nodiscard]] result<void> send_raw(
      byte_span frame, std::optional<std::chrono::milliseconds> timeout = std::nullopt);
  /// As above, but through an interface other than the bound one.
  [[nodiscard]] result<void> send_raw(byte_span frame, const interface& through);
  /// Has the queueing discipline hold the frame until `time_ns` of the clock set in
  /// `raw_socket_options::send_times`. Needs etf, fq, or taprio with txtime-assist; other
  /// disciplines send at once and report nothing (nl::route::qdiscs returns the discipline in use).
  /// Does not wait. Errors: invalid_argument (opened without a clock); conflict (the discipline
  /// rejected the frame: its time has passed or is of another clock, or the discipline is full;
  /// with etf, `try_sent` returns the reason); as `send_raw`.
  [[nodiscard]] result<void> send_at(byte_span frame, std::uint64_t time_ns);
  /// Returns the outcome of a sent frame, in the order in which the kernel learns of it; nullopt if
  /// there is no new one. With `send_timestamps`, each frame that the driver accepts is reported (a
  /// driver without software stamps reports nothing); with `send_times`, each frame that etf or
  /// taprio dropped. Called by the thread that sends.
  [[nodiscard]] result<std::optional<sent_frame>> try_sent();
  /// Builds a frame from this interface's address to `destination` and sends it.
  [[nodiscard]] result<void> send_to(const mac_address& destination, std::uint16_t ethertype,
                                     byte_span payload);
  /// Sends the bytes of a text as the payload, as above.
  template <std::convertible_to<std::string_view> Text>
  [[nodiscard]] result<void> send_to(const mac_address& destination, std::uint16_t ethertype,
                                     const Text& text) {
    return send_to(destination, ethertype, as_bytes(text));
  }

  /// Waits for the next frame. `memory` needs four bytes more than the largest frame expected.
  [[nodiscard]] result<received_frame> receive(mutable_byte_span memory);
  /// Errors: timed_out, and as `try_receive`.
  [[nodiscard]] result<received_frame> receive_with_timeout(mutable_byte_span memory,
                                                            std::chrono::milliseconds timeout);

  /// Uses sendmmsg and recvmmsg, up to `max_batch` frames per system call; allocates nothing.
  [[nodiscard]] result<std::size_t> try_send(std::span<const byte_span> frames) override;
  [[nodiscard]] result<std::size_t> try_receive(std::span<frame_slot> slots) override;

  /// Returns the number of the socket's fanout group. Errors: invalid_argument if it is in none.
  [[nodiscard]] result<std::uint16_t> fanout_group() const;

  // The settings below may change while the socket is open, by one thread at a time. Errors:
  // invalid_argument (a socket that only sends does not receive; a socket on all interfaces cannot
  // join a group); permission_denied (the filter of a socket that the daemon created).

  /// Replaces the filter. Frames that already wait in the socket have passed the old filter.
  [[nodiscard]] result<void> set_filter(const frame_filter& filter);
  /// Joins a group, to be left as often as it was joined.
  [[nodiscard]] result<void> join(const mac_address& group);
  /// Leaves a group; leaving a group that was not joined changes nothing.
  [[nodiscard]] result<void> leave(const mac_address& group);
  /// Sets whether the card accepts frames for other MAC addresses too.
  [[nodiscard]] result<void> set_promiscuous(bool enabled);
  /// Sets the size in bytes. Without CAP_NET_ADMIN, the kernel caps it at net.core.rmem_max
  /// (wmem_max for sending).
  [[nodiscard]] result<void> set_receive_buffer(std::size_t bytes);
  /// As `set_receive_buffer`.
  [[nodiscard]] result<void> set_send_buffer(std::size_t bytes);

  /// The kernel's counters (PACKET_STATISTICS), summed since the socket was opened.
  [[nodiscard]] result<device_statistics> statistics() override;

 private:
  friend class frame_ring;
  struct batch;  // the headers for sendmmsg and recvmmsg, built once

  raw_socket(interface link, unique_fd fd, const raw_socket_options& options);
  static result<raw_socket> create_unbound(std::string_view interface_name,
                                           const raw_socket_options& options);
  result<void> bind(const raw_socket_options& options);
  [[nodiscard]] result<void> may_change(std::string_view text, bool needs_interface) const;
  result<void> send_raw_to(byte_span frame, const interface& through, const sockaddr_ll* address,
                           std::optional<std::chrono::milliseconds> timeout);

  interface link_;
  unique_fd fd_;
  bool receives_ = false;
  bool shares_ = false;
  bool ignores_outgoing_ = false;  // through its filter
  bool is_promiscuous_ = false;
  bool timestamps_ = false;
  bool sends_by_time_ = false;
  std::shared_ptr<card_stamps> stamps_;
  bool down_ = false;  // the link went down, and no frame has arrived since
  device_statistics counted_;
  std::unique_ptr<batch> sending_;
  std::unique_ptr<batch> receiving_;
};

}  // namespace strata::l2
