// Ethernet frames on a loop: each frame's payload is a message, each source address a sender.
//
// Frames of `l2://` are received through a ring (l2::frame_ring), and those sent in one turn are
// written in batches at its end. A message shorter than the minimum frame is padded with zeros on
// the wire; the URL decides what happens to zeros at the end of such a frame (`l2_padding`).
//
// The interface is followed by its index: the endpoint survives when it goes down and up or gets
// another name, MTU or MAC. -ENODEV is received when the interface was removed.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "net/datagram.hpp"
#include "net/endpoint_url.hpp"
#include "net/ethernet/link_watch.hpp"
#include "strata/l2/raw_socket.hpp"
#include "strata/wire/ethernet.hpp"

namespace strata::net {

class raw_ethernet final : public datagram,
                           private loop::request,
                           private loop::turn_end_hook,
                           private loop::buffer::pool {
 public:
  /// Opens what an `l2://` or `xdp://` URL names. Errors: as `l2::raw_socket::create_bound` and
  /// `xdp::port::open`.
  [[nodiscard]] static result<std::unique_ptr<raw_ethernet>> open(loop::loop& owner,
                                                                  const endpoint_url& url);
  ~raw_ethernet() override;

  /// An empty address means the URL's `dst`.
  bool send(const loop::socket_address& address, loop::slice bytes) override;
  [[nodiscard]] bool is_up() const override { return device_->link().is_running(); }
  void flush() override { on_turn_end(); }
  [[nodiscard]] std::uint64_t take_kernel_drops() override;
  [[nodiscard]] std::size_t max_size() const override {
    return device_->link().mtu - length_size();
  }

 private:
  static constexpr std::size_t batch = l2::raw_socket::max_batch;
  static constexpr std::size_t most_waiting = 4096;  // frames to be sent

  raw_ethernet(loop::loop& owner, std::unique_ptr<l2::device> device, int poll_fd,
               const endpoint_url& url);
  void want() override;
  void on_completion(loop::completion completion) override;
  void on_turn_end() override;
  void give_back(std::uint32_t id) override;
  void on_link(const std::optional<l2::interface>& interface);
  void report_state();
  /// Returns 0, or the errno of the failure.
  [[nodiscard]] int read();
  void arrive_frame(std::uint32_t slot, const l2::received_frame& frame);
  [[nodiscard]] std::size_t length_size() const {
    return peer_.padding == l2_padding::length ? sizeof(std::uint16_t) : 0;
  }
  /// The message, preceded by its length if `padding` asks for it. Valid until the next call.
  [[nodiscard]] byte_span payload_of(byte_span message);
  [[nodiscard]] bool is_ours(const wire::ethernet_view& frame) const;
  /// The message in a frame; nullopt if the frame is shorter than its length field says.
  [[nodiscard]] std::optional<byte_span> message_in(const wire::ethernet_view& frame) const;
  /// The memory of a free slot; it grows with the MTU.
  [[nodiscard]] mutable_byte_span memory_of(std::uint32_t slot);
  [[nodiscard]] std::size_t slot_size() const;

  loop::loop& loop_;
  std::unique_ptr<l2::device> device_;
  loop::descriptor poll_handle_;  // the loop's own descriptor of the same socket
  l2_address peer_;
  std::vector<wire::vlan_tag> tags_;

  std::array<std::vector<std::byte>, batch> memory_;
  std::vector<std::uint32_t> free_slots_;
  std::array<l2::frame_slot, batch> slots_;

  std::vector<std::byte> measured_;
  std::vector<std::byte> outgoing_;  // whole frames, back to back
  std::vector<std::size_t> outgoing_sizes_;
  std::unique_ptr<link_watch> link_watch_;
  std::uint64_t drops_seen_ = 0;
};

}  // namespace strata::net
