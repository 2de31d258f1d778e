#include "net/ethernet/xdp_device.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "strata/wire/ethernet.hpp"

namespace strata::net {

namespace {

constexpr std::size_t batch = 64;

xdp::port_options options_for(const endpoint_url& url, const l2::interface& link) {
  xdp::port_options options;
  options.which = {
      .ethertype = url.l2.ethertype, .vlan_id = url.l2.vlan_id, .destination = {}, .udp_port = {}};
  switch (url.xdp.mode) {
    case xdp_mode::automatic: break;
    case xdp_mode::generic: options.attach = xdp::attach_mode::generic; break;
    case xdp_mode::zerocopy: options.socket.mode = xdp::copy_mode::zerocopy; [[fallthrough]];
    case xdp_mode::native: options.attach = xdp::attach_mode::native; break;
  }
  const auto longest = link.mtu + wire::ethernet_header_size +
                       wire::max_vlan_tags * wire::vlan_tag_size + xdp::umem::kernel_headroom;
  options.socket.multi_buffer = longest > options.memory.frame_size;
  return options;
}

}  // namespace

result<std::unique_ptr<l2::device>> xdp_device::open(const endpoint_url& url) {
  auto link = l2::interface::query(url.host);
  if (!link) return std::unexpected(link.error());
  auto port = xdp::port::open(url.host, url.xdp.queue, options_for(url, *link));
  if (!port) return std::unexpected(port.error());
  return std::unique_ptr<l2::device>(new xdp_device(std::move(*link), std::move(*port), url.l2));
}

// The program sees everything that passes the interface, frames for other hosts included.
bool xdp_device::is_for_us(byte_span frame) const {
  const auto view = wire::ethernet_view::parse(frame);
  if (!view) return false;
  const auto destination = view->destination();
  const bool is_addressed = destination.is_multicast() || destination == link_.mac;
  const bool is_from_peer = !peer_.destination || peer_.destination->is_multicast() ||
                            view->source() == *peer_.destination;
  return is_addressed && is_from_peer;
}

result<std::size_t> xdp_device::try_receive(std::span<l2::frame_slot> slots) {
  std::size_t filled = 0;
  while (filled < slots.size()) {
    std::array<byte_span, batch> frames;
    const auto got =
        port_.try_receive(std::span(frames).first(std::min(batch, slots.size() - filled)));
    if (!got) return std::unexpected(got.error());
    if (*got == 0) break;
    for (const auto& frame : std::span(frames).first(*got)) {
      if (!is_for_us(frame)) continue;
      auto& slot = slots[filled++];
      const auto size = std::min(frame.size(), slot.memory.size());
      copy_bytes(frame.first(size), slot.memory);
      slot.frame = {.bytes = slot.memory.first(size), .wire_size = frame.size()};
    }
  }
  received_ += filled;
  if (filled != 0) return filled;
  // The kernel reports the removal of the interface once.
  int code = 0;
  socklen_t size = sizeof code;
  if (::getsockopt(fd(), SOL_SOCKET, SO_ERROR, &code, &size) == 0 && code != 0) {
    return system_failure(code, "receive from '" + link_.name + "' by AF_XDP");
  }
  return filled;
}

result<l2::device_statistics> xdp_device::statistics() {
  const auto counted = port_.statistics();
  if (!counted) return std::unexpected(counted.error());
  return l2::device_statistics{.received = received_, .dropped = counted->dropped};
}

}  // namespace strata::net
