// An AF_XDP port as a frame device, with the interface of raw sockets. Frames are copied out of the
// UMEM, so a reader may keep them as long as it likes.
#pragma once

#include <memory>

#include "net/endpoint_url.hpp"
#include "strata/l2/device.hpp"
#include "strata/xdp/port.hpp"

namespace strata::net {

class xdp_device final : public l2::device {
 public:
  /// Opens the queue that an `xdp://` URL names. Errors: as `xdp::port::open`.
  [[nodiscard]] static result<std::unique_ptr<l2::device>> open(const endpoint_url& url);

  [[nodiscard]] const l2::interface& link() const override { return link_; }
  void update_link(const l2::interface& interface) override {
    link_ = interface;
    port_.update_mtu(interface.mtu);
  }
  [[nodiscard]] int fd() const override { return port_.fd(); }
  [[nodiscard]] result<std::size_t> try_send(std::span<const byte_span> frames) override {
    return port_.try_send(frames);
  }
  [[nodiscard]] result<std::size_t> try_receive(std::span<l2::frame_slot> slots) override;
  [[nodiscard]] result<l2::device_statistics> statistics() override;

 private:
  xdp_device(l2::interface link, xdp::port port, const l2_address& peer)
      : link_(std::move(link)), port_(std::move(port)), peer_(peer) {}
  [[nodiscard]] bool is_for_us(byte_span frame) const;

  l2::interface link_;
  xdp::port port_;
  l2_address peer_;
  std::uint64_t received_ = 0;
};

}  // namespace strata::net
