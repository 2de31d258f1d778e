#include "strata/l2/decorators/fake_device.hpp"

#include <net/if.h>

#include <algorithm>
#include <cerrno>

#include "l2/packet_socket.hpp"
#include "strata/wire/ethernet.hpp"

namespace strata::l2 {

fake_device::fake_device(interface link, std::size_t capacity)
    : link_(std::move(link)), capacity_(capacity) {}

fake_device::~fake_device() {
  if (peer_ != nullptr) peer_->peer_ = nullptr;
}

fake_device::pair fake_device::make_pair(std::uint32_t mtu, std::size_t capacity) {
  const auto link_of = [&](std::uint8_t number) {
    return interface{.name = "fake" + std::to_string(number),
                     .index = number + 1,
                     .mac = mac_address({2, 0, 0, 0, 0, number}),
                     .mtu = mtu,
                     .flags = IFF_UP | IFF_RUNNING};
  };
  pair made;
  made.first.reset(new fake_device(link_of(0), capacity));
  made.second.reset(new fake_device(link_of(1), capacity));
  made.first->peer_ = made.second.get();
  made.second->peer_ = made.first.get();
  return made;
}

void fake_device::set_up(bool up) {
  for (auto* each : {this, peer_}) {
    if (each == nullptr) continue;
    each->link_.flags = up ? IFF_UP | IFF_RUNNING : 0U;
    each->has_reported_down_ = false;
  }
}

result<std::size_t> fake_device::try_send(std::span<const byte_span> frames) {
  const auto most = link_.mtu + wire::ethernet_header_size + wire::vlan_tag_size;
  std::size_t taken = 0;
  for (const auto& frame : frames) {
    int refused = 0;
    if (peer_ == nullptr)
      refused = ENODEV;
    else if (!link_.is_up())
      refused = ENETDOWN;
    else if (frame.size() < wire::ethernet_header_size)
      refused = EINVAL;
    else if (frame.size() > most)
      refused = EMSGSIZE;
    if (refused != 0) {
      if (taken != 0) return taken;
      return std::unexpected(packet_error(
          refused, "send a frame of " + std::to_string(frame.size()) + " bytes on", link_));
    }
    if (peer_->waiting_.size() < peer_->capacity_) {
      peer_->waiting_.emplace_back(frame.begin(), frame.end());
      ++peer_->counted_.received;
    } else {
      ++peer_->counted_.dropped;
    }
    ++taken;
  }
  return taken;
}

result<std::size_t> fake_device::try_receive(std::span<frame_slot> slots) {
  if (!link_.is_up() && !std::exchange(has_reported_down_, true)) {
    return std::unexpected(packet_error(ENETDOWN, "receive on", link_));
  }
  std::size_t filled = 0;
  for (; filled < slots.size() && !waiting_.empty(); ++filled) {
    const auto& frame = waiting_.front();
    copy_into(slots[filled], {.bytes = frame, .wire_size = frame.size()});
    waiting_.pop_front();
  }
  return filled;
}

}  // namespace strata::l2
