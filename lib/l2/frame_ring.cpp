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

constexpr std::size_t least_slots = 16;

std::string text_of(std::size_t slots) {
  return "a frame ring of " + std::to_string(slots) + " slots";
}

}  // namespace

std::size_t frame_ring::slot_size_for(const interface& interface, const wishes& wishes) {
  const auto frame =
      wishes.frame_size != 0 ? wishes.frame_size : interface.mtu + wire::ethernet_header_size;
  // The kernel aligns the IP header behind the Ethernet header, which takes up to 16 bytes more.
  return std::bit_ceil(TPACKET2_HDRLEN + 16 + wire::vlan_tag_size + frame);
}

result<frame_ring::slot_memory> frame_ring::make_slots(const raw_socket& socket,
                                                       const wishes& wishes) {
  const auto size = slot_size_for(socket.link(), wishes);
  const auto count =
      wishes.memory == 0 ? wishes.slots : std::max(wishes.memory / size, least_slots);
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const auto block_size = std::max(size, page);
  const auto slots_a_block = block_size / size;
  const auto blocks = (count + slots_a_block - 1) / slots_a_block;
  if (auto fits = check_ring_memory(blocks, block_size, text_of(count)); !fits) {
    return std::unexpected(fits.error());
  }
  tpacket_req shape{};
  shape.tp_block_size = static_cast<unsigned>(block_size);
  shape.tp_block_nr = static_cast<unsigned>(blocks);
  shape.tp_frame_size = static_cast<unsigned>(size);
  shape.tp_frame_nr = static_cast<unsigned>(blocks * slots_a_block);
  if (::setsockopt(socket.fd(), SOL_PACKET, PACKET_RX_RING, &shape, sizeof shape) != 0) {
    return system_failure(errno,
                          "create a receive ring of " + std::to_string(shape.tp_frame_nr) +
                              " slots of " + std::to_string(size) + " bytes",
                          "use fewer slots");
  }
  auto memory = mapping::of(socket.fd(), block_size * blocks, "the ring of " + socket.link().name);
  if (!memory) return std::unexpected(memory.error());
  return slot_memory{std::move(*memory), size, blocks * slots_a_block};
}

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
    return failure(errc::invalid_argument, "create a frame ring that receives nothing", {},
                   "use a raw_socket to send only");
  }
  if (auto fits = check_ring_socket(options.socket); !fits) return std::unexpected(fits.error());
  // Checked also before sizes are rounded up.
  if (auto fits = check_ring_memory(options.slots, std::max<std::size_t>(options.frame_size, 1),
                                    text_of(options.slots));
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
  const wishes wanted{options.slots, options.frame_size, options.memory};
  auto slots = make_slots(*made, wanted);
  if (!slots) return std::unexpected(slots.error());
  if (auto bound = made->bind(options.socket); !bound) return std::unexpected(bound.error());
  return frame_ring(std::move(*made), std::move(*slots), wanted);
}

void frame_ring::update_link(const interface& interface) {
  const auto before = link();
  socket_.update_link(interface);
  if (slot_size_for(interface, wanted_) <= slots_.size) return;
  for (std::size_t which = 0; which < slots_.count; ++which) {
    const std::atomic_ref status(header_of(slot(which)).tp_status);
    if ((status.load(std::memory_order_acquire) & TP_STATUS_USER) != 0) ++lost_;
  }
  // The kernel removes a ring only if it is not mapped, and creates one only if there is none.
  slots_ = {};
  next_ = 0;
  const tpacket_req none{};
  (void)::setsockopt(fd(), SOL_PACKET, PACKET_RX_RING, &none, sizeof none);
  auto made = make_slots(socket_, wanted_);
  if (!made) {
    // Falls back to the previous size: longer frames are truncated, and report that.
    auto smaller = wanted_;
    smaller.frame_size = before.mtu + wire::ethernet_header_size;
    made = make_slots(socket_, smaller);
  }
  if (made) {
    slots_ = std::move(*made);
    return;
  }
  ringless_ = made.error();
  if (ringless_->sys_errno == 0) ringless_->sys_errno = ENOMEM;
}

result<device_statistics> frame_ring::statistics() {
  auto counted = socket_.statistics();
  if (counted) counted->dropped += lost_;
  return counted;
}

std::optional<ring_frame> frame_ring::try_frame() {
  if (slots_.count == 0) return std::nullopt;
  std::byte* const at = slot(next_);
  if (!take_from_kernel(header_of(at).tp_status)) return std::nullopt;
  down_ = false;
  next_ = next_ + 1 == slots_.count ? 0 : next_ + 1;
  const auto& header = header_of(at);
  return ring_frame(at, read_ring_frame<tpacket2_hdr>(at, header.tp_vlan_tpid, header.tp_vlan_tci));
}

result<std::size_t> frame_ring::try_receive(std::span<frame_slot> slots) {
  // Without slots, the socket has frames that cannot be taken.
  if (ringless_) return std::unexpected(*ringless_);
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
