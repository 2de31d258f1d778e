#include "strata/l2/frame_ring.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>

#include "l2/ring_header.hpp"
#include "strata/wire/ethernet.hpp"

namespace strata::l2 {

namespace {

tpacket2_hdr& header_of(std::byte* slot) { return *reinterpret_cast<tpacket2_hdr*>(slot); }

std::size_t slot_size_for(const interface& on, const frame_ring_options& options) {
  const auto frame =
      options.frame_size != 0 ? options.frame_size : on.mtu + wire::ethernet_header_size;
  // The kernel aligns the IP header behind the Ethernet header: up to 16 bytes more.
  return std::bit_ceil(TPACKET2_HDRLEN + 16 + wire::vlan_tag_size + frame);
}

}  // namespace

ring_frame& ring_frame::operator=(ring_frame&& other) noexcept {
  if (this != &other) {
    give_back();
    slot_ = std::exchange(other.slot_, nullptr);
    frame_ = other.frame_;
  }
  return *this;
}

void ring_frame::give_back() {
  if (slot_ == nullptr) return;
  std::atomic_ref(header_of(std::exchange(slot_, nullptr)).tp_status)
      .store(TP_STATUS_KERNEL, std::memory_order_release);
}

result<frame_ring> frame_ring::create_bound(std::string_view interface_name,
                                            const frame_ring_options& options) {
  if (options.slots == 0 || !options.socket.receives) {
    return failure(errc::invalid_argument, "make a frame ring that receives nothing", {},
                   "use a raw_socket to send only");
  }
  const auto what = "a frame ring of " + std::to_string(options.slots) + " slots";
  // Already before sizes are rounded up.
  if (auto fits =
          check_ring_memory(options.slots, std::max<std::size_t>(options.frame_size, 1), what);
      !fits) {
    return std::unexpected(fits.error());
  }
  auto made = raw_socket::create_unbound(interface_name, options.socket);
  if (!made) return std::unexpected(made.error());
  const int version = TPACKET_V2;
  const unsigned reserve = wire::vlan_tag_size;
  const int fd = made->fd();
  if (::setsockopt(fd, SOL_PACKET, PACKET_VERSION, &version, sizeof version) != 0 ||
      ::setsockopt(fd, SOL_PACKET, PACKET_RESERVE, &reserve, sizeof reserve) != 0) {
    return system_failure(errno, "use TPACKET_V2 on " + made->link().name);
  }
  const auto slot_size = slot_size_for(made->link(), options);
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const auto block_size = std::max(slot_size, page);
  const auto slots_a_block = block_size / slot_size;
  const auto blocks = (options.slots + slots_a_block - 1) / slots_a_block;
  if (auto fits = check_ring_memory(blocks, block_size, what); !fits) {
    return std::unexpected(fits.error());
  }
  tpacket_req shape{};
  shape.tp_block_size = static_cast<unsigned>(block_size);
  shape.tp_block_nr = static_cast<unsigned>(blocks);
  shape.tp_frame_size = static_cast<unsigned>(slot_size);
  shape.tp_frame_nr = static_cast<unsigned>(blocks * slots_a_block);
  if (::setsockopt(fd, SOL_PACKET, PACKET_RX_RING, &shape, sizeof shape) != 0) {
    return system_failure(errno,
                          "make a receive ring of " + std::to_string(shape.tp_frame_nr) +
                              " slots of " + std::to_string(slot_size) + " bytes",
                          "ask for fewer");
  }
  auto memory = mapping::of(fd, block_size * blocks, "the ring of " + made->link().name);
  if (!memory) return std::unexpected(memory.error());
  if (auto bound = made->bind(options.socket); !bound) return std::unexpected(bound.error());
  return frame_ring(std::move(*made), std::move(*memory), slot_size, blocks * slots_a_block);
}

std::optional<ring_frame> frame_ring::try_frame() {
  std::byte* const slot = memory_.bytes().data() + next_ * slot_size_;
  if (!take_from_kernel(header_of(slot).tp_status)) return std::nullopt;
  down_ = false;
  next_ = next_ + 1 == slot_count_ ? 0 : next_ + 1;
  const auto& header = header_of(slot);
  return ring_frame(slot,
                    read_ring_frame<tpacket2_hdr>(slot, header.tp_vlan_tpid, header.tp_vlan_tci));
}

result<std::size_t> frame_ring::try_receive(std::span<frame_slot> slots) {
  std::size_t filled = 0;
  for (; filled < slots.size(); ++filled) {
    const auto frame = try_frame();
    if (!frame) break;
    copy_into(slots[filled], **frame);
  }
  if (filled != 0) return filled;
  if (auto failed = take_socket_error(socket_.fd(), link(), down_)) {
    return std::unexpected(std::move(*failed));
  }
  return 0;
}

}  // namespace strata::l2
