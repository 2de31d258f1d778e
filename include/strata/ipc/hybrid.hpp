// Two endpoints with a TCP connection for the handshake and to detect the peer's end, and raw
// Ethernet frames for the data, with a VLAN tag so that switches apply the requested priority.
//
// Over TCP the ends exchange MAC address, EtherType, VLAN and MTU, and the server assigns the
// session a random number, which each data frame carries. The kernel filters out frames that are
// not from the peer's MAC address to ours, with our EtherType and VLAN; the endpoint counts and
// drops frames of another session. That keeps out strangers and stale frames, but not an attacker
// who can forge frames on the wire.
//
// Data may be lost, as frames are; they arrive in the order that the network keeps. Needs
// CAP_NET_RAW, and an interface with a MAC address (not lo). One thread at a time may send, and one
// may receive. Linux 4.20 or newer.
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "strata/base/unique_fd.hpp"
#include "strata/l2/raw_socket.hpp"
#include "strata/wire/vlan.hpp"

namespace strata::ipc {

struct hybrid_config {
  std::uint16_t tcp_port = 9000;
  /// The one numeric address on which a server listens; empty means all, IPv4 and IPv6.
  std::string listen_address;
  std::uint16_t ethertype = 0x88B5;
  std::optional<std::uint16_t> vlan_id = 10;  ///< 0 carries only a priority; nullopt sends no tag
  std::uint8_t priority = 7;                  ///< PCP of the tag
  /// For all steps of creating the endpoint together.
  std::chrono::milliseconds timeout{30000};
  /// How long a server waits for one client's greeting, so that a silent client does not block
  /// others.
  std::chrono::milliseconds greeting_timeout{5000};
  /// How long the peer's machine may be unreachable before it counts as gone.
  std::chrono::milliseconds peer_timeout{10000};
  std::optional<std::size_t> receive_buffer;  ///< SO_RCVBUF(FORCE), bytes
};

struct data_message {
  mac_address source;
  std::uint8_t priority = 0;
  std::uint16_t vlan_id = 0;
  bool was_tagged = false;
  std::vector<std::byte> payload;
};

class hybrid_endpoint {
 public:
  /// Waits for a client; drops clients whose greeting is wrong. Errors: timed_out (and how the last
  /// client failed), those of the interface and the port.
  [[nodiscard]] static result<hybrid_endpoint> create_server(std::string_view interface_name,
                                                             const hybrid_config& config = {});
  /// Connects to `host`, a numeric IPv4 or IPv6 address, with %INTERFACE if it needs one: the
  /// lookup of a name could not honor the deadline. Retries until the server is there or the time
  /// is over. Errors: timed_out, malformed and not_supported (the peer is not a hybrid server),
  /// conflict (the server uses another EtherType or VLAN).
  [[nodiscard]] static result<hybrid_endpoint> create_client(std::string_view interface_name,
                                                             std::string_view host,
                                                             const hybrid_config& config = {});

  /// Sends one message in one frame, at most `max_payload()` bytes. Errors: limit_exceeded;
  /// connection_closed if the peer is gone or the link is down.
  [[nodiscard]] result<void> send_data(byte_span payload);
  /// Sends the bytes of a text, as above.
  template <std::convertible_to<std::string_view> Text>
  [[nodiscard]] result<void> send_data(const Text& text) {
    return send_data(as_bytes(text));
  }
  /// Waits for the next message. Errors: connection_closed if the peer is gone, after all its
  /// messages.
  [[nodiscard]] result<data_message> receive_data();
  /// As `receive_data`. Errors: also timed_out.
  [[nodiscard]] result<data_message> receive_data_with_timeout(std::chrono::milliseconds timeout);
  /// Receives the next message; nullopt if none is waiting.
  [[nodiscard]] result<std::optional<data_message>> try_receive_data();
  /// Calls `handler` with each message, on the caller's thread, until it returns false or a stop is
  /// requested, which any thread may do. May run in a std::jthread while another thread sends; the
  /// endpoint must not be moved meanwhile. Errors: as `receive_data`; the system's, if the process
  /// has no more descriptors.
  [[nodiscard]] result<void> receive_each(const std::function<bool(const data_message&)>& handler,
                                          const std::stop_token& stop = {});

  /// The peer's MAC address.
  [[nodiscard]] const mac_address& peer() const { return peer_; }
  /// The number that the server assigned to this session.
  [[nodiscard]] std::uint64_t session() const { return session_; }
  /// Returns the interface as it was when the endpoint was created.
  [[nodiscard]] const l2::interface& link() const { return socket_.link(); }
  /// The smaller MTU of both ends, less our header.
  [[nodiscard]] std::size_t max_payload() const;
  /// The number of frames that passed the kernel's filter but are not of this session. Called by
  /// the thread that receives.
  [[nodiscard]] std::uint64_t refused() const { return refused_; }
  /// The counters of the data socket. Called by the thread that receives.
  [[nodiscard]] result<l2::device_statistics> statistics() { return socket_.statistics(); }
  /// The descriptor to poll (POLLIN) before `try_receive_data`; it stays the endpoint's.
  [[nodiscard]] int data_fd() const { return socket_.fd(); }
  /// As `data_fd`.
  [[nodiscard]] int control_fd() const { return control_.get(); }

 private:
  friend class hybrid_listener;
  hybrid_endpoint(l2::raw_socket socket, unique_fd control, const hybrid_config& config,
                  const mac_address& peer, std::uint64_t session, std::size_t mtu);
  static result<hybrid_endpoint> greet(const l2::interface& interface, unique_fd control,
                                       const hybrid_config& config,
                                       std::chrono::steady_clock::time_point limit);
  [[nodiscard]] std::optional<data_message> read(const l2::received_frame& frame);
  [[nodiscard]] result<void> check_control();
  result<bool> wait(std::optional<std::chrono::steady_clock::time_point> limit,
                    int other_fd = -1) const;

  l2::raw_socket socket_;
  unique_fd control_;
  std::vector<wire::vlan_tag> tags_;
  std::uint16_t ethertype_;
  mac_address peer_;
  std::uint64_t session_;
  std::size_t mtu_;
  std::uint64_t refused_ = 0;
  std::vector<std::byte> payload_;
  std::vector<std::byte> outgoing_;
  std::vector<std::byte> incoming_;
};

/// A server's TCP port, to accept more than one client, or to listen on any free port.
class hybrid_listener {
 public:
  /// Errors: those of the interface and the port; invalid_argument (the VLAN, lo).
  [[nodiscard]] static result<hybrid_listener> listen(std::string_view interface_name,
                                                      const hybrid_config& config = {});
  /// As `create_server`, within the config's timeout from this call on.
  [[nodiscard]] result<hybrid_endpoint> accept();
  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] int fd() const { return fd_.get(); }

 private:
  hybrid_listener(l2::interface interface, unique_fd fd, std::uint16_t port,
                  const hybrid_config& config)
      : on_(std::move(interface)), fd_(std::move(fd)), port_(port), config_(config) {}

  l2::interface on_;
  unique_fd fd_;
  std::uint16_t port_;
  hybrid_config config_;
};

}  // namespace strata::ipc
