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
  /// Taken by the network card, where it can; else by the kernel: `received_frame::is_card_time`
  /// tells. Needs CAP_NET_ADMIN, unless the card does so already, and a driver that tells what is
  /// set. What the card does for the other direction stays, and what was comes back at the end.
  hardware,
};

/// The memory of one socket's rings (packet_ring, frame_ring), in bytes, at most, and at most half
/// of the machine's. The kernel has no limit of its own for it.
constexpr std::size_t most_ring_memory = std::size_t{1} << 30U;

class card_stamps;

/// Several sockets that share what comes (PACKET_FANOUT). All of a group, of whatever program, have
/// the same interface, mode and flags.
struct fanout {
  enum class mode : std::uint8_t { hash, load_balance, cpu, rollover, random, queue, program };
  std::uint16_t group = 0;
  mode how = mode::hash;
  bool defragment = false;
  /// Make a group that nobody has yet; `group` is 0. `raw_socket::fanout_group` tells its number,
  /// by which others join. Linux 4.14 or newer.
  bool is_new = false;
  /// For `mode::program`: the descriptor of a loaded BPF program (BPF_PROG_TYPE_SOCKET_FILTER),
  /// which stays the caller's. It reads what is behind the Ethernet header (that lies at
  /// SKF_LL_OFF); what it returns, modulo their count, is the number of the group's socket, from 0
  /// in the order in which they joined.
  int program_fd = -1;
};

struct raw_socket_options {
  frame_filter filter;
  /// False makes a socket that only sends, which costs the receive path of the machine nothing.
  bool receives = true;
  /// Do not see what this machine sends on the interface. On lo everything is also received.
  bool ignore_outgoing = true;
  bool promiscuous = false;
  std::vector<mac_address> multicast;  ///< groups to be member of
  std::optional<fanout> share;
  /// Hand frames to the driver without its queue: no shaping, and EAGAIN when the driver is busy.
  bool qdisc_bypass = false;
  timestamping timestamps = timestamping::off;  ///< of what is received
  /// Of what is sent: `try_sent` tells each. They are to be read, for as long as there is one a
  /// poll of the descriptor returns at once (POLLERR), and they take of the receive buffer.
  timestamping send_timestamps = timestamping::off;
  /// For `send_at` (SO_TXTIME). Linux 4.19 or newer.
  std::optional<send_clock> send_times;
  /// SO_PRIORITY, 0 to 7: for the queueing discipline, and by its map for a VLAN device's PCP. A
  /// tag that is in the frame already stays as it is.
  std::optional<int> priority;
  std::optional<int> busy_poll_us;            ///< SO_BUSY_POLL
  std::optional<std::size_t> receive_buffer;  ///< SO_RCVBUF(FORCE), bytes
  std::optional<std::size_t> send_buffer;     ///< SO_SNDBUF(FORCE), bytes
};

class raw_socket final : public device {
 public:
  /// How many frames one system call moves at most.
  static constexpr std::size_t max_batch = 64;

  /// Opens a socket that is bound to `interface_name` from its first moment on: it never sees
  /// another's frames. Errors: not_found (no such interface), permission_denied (and how to grant
  /// CAP_NET_RAW), invalid_argument (an option that cannot be right).
  [[nodiscard]] static result<raw_socket> create_bound(std::string_view interface_name,
                                                       const raw_socket_options& options = {});

  /// Opens a socket that hears all interfaces of this network namespace, and those to come:
  /// `received_frame::interface_index` says by which a frame came. `link()` is none of them: its
  /// index is 0, its MTU the largest that there is now; sending needs `send_raw(frame, through)`.
  /// Errors: permission_denied; invalid_argument for what one interface has to have (`multicast`,
  /// `promiscuous`, `share`, times by the card).
  [[nodiscard]] static result<raw_socket> create_on_all(const raw_socket_options& options = {});

  /// As `create_bound`, for a process without CAP_NET_RAW: the daemon at `path` makes the socket,
  /// if its policy allows, and neither its filter nor its interface can be changed any more.
  /// Errors: as of that; not_supported for `share`; those of `broker::ask`.
  [[nodiscard]] static result<raw_socket> open_through_daemon(
      std::string_view interface_name, const raw_socket_options& options = {},
      const std::string& path = broker::default_path());

  raw_socket(raw_socket&&) noexcept;
  raw_socket& operator=(raw_socket&&) noexcept;
  ~raw_socket() override;

  [[nodiscard]] const interface& link() const override { return link_; }
  void update_link(const interface& interface) override { link_ = interface; }
  [[nodiscard]] int fd() const override { return fd_.get(); }

  /// One frame, whole from its destination address on; waits for room as `send_frame` does.
  /// Errors: limit_exceeded (EMSGSIZE: above the interface's MTU), connection_closed (ENETDOWN),
  /// timed_out.
  [[nodiscard]] result<void> send_raw(
      byte_span frame, std::optional<std::chrono::milliseconds> timeout = std::nullopt);
  /// As above, through another interface than the one it is bound to.
  [[nodiscard]] result<void> send_raw(byte_span frame, const interface& through);
  /// Has the queueing discipline hold the frame until that time of the clock that was set in
  /// `raw_socket_options::send_times`. Needs one that does: etf, fq, or taprio with txtime-assist;
  /// others send at once and tell nobody (nl::route::qdiscs tells which it is). Waits for nothing.
  /// Errors: invalid_argument (opened without a clock); conflict (the discipline did not take it:
  /// its time is over, or of another clock, or the discipline is full; of etf `try_sent` tells
  /// which); as `send_raw`.
  [[nodiscard]] result<void> send_at(byte_span frame, std::uint64_t time_ns);
  /// What became of a frame that was sent, in the order in which the kernel hears of it; nullopt
  /// when there is nothing new. With `send_timestamps` each frame is told of that its driver takes
  /// (one without software stamps says nothing), with `send_times` each that etf or taprio dropped.
  /// By the thread that sends.
  [[nodiscard]] result<std::optional<sent_frame>> try_sent();
  /// Builds a frame from this interface's address to `destination` and sends it.
  [[nodiscard]] result<void> send_to(const mac_address& destination, std::uint16_t ethertype,
                                     byte_span payload);
  /// The same with the bytes of a text as the payload.
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

  /// sendmmsg and recvmmsg, up to `max_batch` frames a system call; no allocation.
  [[nodiscard]] result<std::size_t> try_send(std::span<const byte_span> frames) override;
  [[nodiscard]] result<std::size_t> try_receive(std::span<frame_slot> slots) override;

  /// The number of its fanout group. Errors: invalid_argument when it is in none.
  [[nodiscard]] result<std::uint16_t> fanout_group() const;

  // What may change while it is open, by any one thread at a time. Errors: invalid_argument (a
  // socket that only sends has no reception; of all interfaces, it joins nothing);
  // permission_denied (the filter of one that the daemon has made).

  /// In place of the filter that it has. Frames that wait in the socket already have passed that.
  [[nodiscard]] result<void> set_filter(const frame_filter& filter);
  /// To be left as often as joined; to leave what it has not joined changes nothing.
  [[nodiscard]] result<void> join(const mac_address& group);
  /// As `join` says.
  [[nodiscard]] result<void> leave(const mac_address& group);
  /// Whether the card takes frames for other MAC addresses too.
  [[nodiscard]] result<void> set_promiscuous(bool enabled);
  /// Bytes; without CAP_NET_ADMIN no more than net.core.rmem_max and wmem_max, to which the kernel
  /// cuts them.
  [[nodiscard]] result<void> set_receive_buffer(std::size_t bytes);
  /// As `set_receive_buffer` says.
  [[nodiscard]] result<void> set_send_buffer(std::size_t bytes);

  /// Of the kernel (PACKET_STATISTICS), added up since the socket was opened.
  [[nodiscard]] result<device_statistics> statistics() override;

 private:
  friend class frame_ring;
  struct batch;  // the headers of sendmmsg and recvmmsg, made once

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
  bool ignores_outgoing_ = false;  // by its filter
  bool is_promiscuous_ = false;
  bool timestamps_ = false;
  bool sends_by_time_ = false;
  std::shared_ptr<card_stamps> stamps_;
  bool down_ = false;  // the link went down, and nothing has come since
  device_statistics counted_;
  std::unique_ptr<batch> sending_;
  std::unique_ptr<batch> receiving_;
};

}  // namespace strata::l2
