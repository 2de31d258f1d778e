#include "strata/l2/packet_ring.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstring>
#include <memory>

#include "l2/card_stamps.hpp"
#include "l2/ring_header.hpp"
#include "strata/wire/ethernet.hpp"

namespace strata::l2 {

namespace {

// The offset of a frame's bytes in a slot of the send ring.
constexpr std::size_t send_offset = TPACKET_ALIGN(sizeof(tpacket3_hdr));

// The kernel and the program pass slots and blocks to each other through this word in them.
template <class Word>
std::uint32_t status_of(Word& word) {
  return std::atomic_ref(word).load(std::memory_order_acquire);
}
template <class Word>
void set_status(Word& word, std::uint32_t status) {
  std::atomic_ref(word).store(status, std::memory_order_release);
}

tpacket_hdr_v1& block_header_of(std::byte* block) {
  return reinterpret_cast<tpacket_block_desc*>(block)->hdr.bh1;
}

tpacket3_hdr& frame_header_of(std::byte* frame) { return *reinterpret_cast<tpacket3_hdr*>(frame); }

result<void> check(const packet_ring_options& options) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const auto refuse = [](const std::string& text, std::string remedy) {
    return failure(errc::invalid_argument, "create a packet ring with " + text, {},
                   std::move(remedy));
  };
  if (options.block_size < page || (options.block_size & (options.block_size - 1)) != 0 ||
      options.block_size > (std::size_t{1} << 30U)) {
    return refuse("blocks of " + std::to_string(options.block_size) + " bytes",
                  "use a power of two from " + std::to_string(page) + " to 2^30");
  }
  if (options.socket.receives && options.block_count == 0) {
    return refuse("no blocks", "use at least 1, or receives = false");
  }
  if (options.block_timeout < std::chrono::milliseconds(1)) {
    return refuse("a block timeout below 1 ms", "use frame_ring to receive each frame at once");
  }
  if (auto fits = check_ring_socket(options.socket); !fits) return fits;
  if (!options.socket.receives && options.send_slots == 0) {
    return refuse("neither receiving nor send slots", "set receives or send_slots");
  }
  // Each ring by itself, before their sizes are added up.
  const auto blocks = options.socket.receives ? options.block_count : 0;
  auto fits = check_ring_memory(blocks, options.block_size,
                                "a receive ring of " + std::to_string(blocks) + " blocks of " +
                                    std::to_string(options.block_size) + " bytes");
  if (!fits) return fits;
  return check_ring_memory(options.send_slots, TPACKET_ALIGNMENT,
                           "a send ring of " + std::to_string(options.send_slots) + " slots");
}

std::size_t send_slot_size(const interface& interface) {
  const std::size_t frame = interface.mtu + wire::ethernet_header_size + wire::vlan_tag_size;
  return std::bit_ceil(send_offset + frame);
}

result<void> set_up_receive_ring(int fd, const packet_ring_options& options) {
  // Reserves room in front of each frame for the tag that the kernel removes.
  const unsigned reserve = wire::vlan_tag_size;
  if (::setsockopt(fd, SOL_PACKET, PACKET_RESERVE, &reserve, sizeof reserve) != 0) {
    return system_failure(errno, "reserve room for VLAN tags");
  }
  tpacket_req3 shape{};
  shape.tp_block_size = static_cast<unsigned>(options.block_size);
  shape.tp_block_nr = static_cast<unsigned>(options.block_count);
  shape.tp_frame_size = TPACKET_ALIGNMENT << 7U;  // in V3 it only has to divide the block
  shape.tp_frame_nr = shape.tp_block_size / shape.tp_frame_size * shape.tp_block_nr;
  shape.tp_retire_blk_tov = static_cast<unsigned>(options.block_timeout.count());
  if (::setsockopt(fd, SOL_PACKET, PACKET_RX_RING, &shape, sizeof shape) != 0) {
    return system_failure(errno,
                          "create a receive ring of " + std::to_string(options.block_count) +
                              " blocks of " + std::to_string(options.block_size) + " bytes",
                          "use less memory");
  }
  return {};
}

struct send_ring_shape {
  std::size_t slot_size = 0;
  std::size_t block_size = 0;
  std::size_t block_count = 0;
};

send_ring_shape shape_of_send_ring(const interface& interface, const packet_ring_options& options) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const auto slot = send_slot_size(interface);
  const auto block = std::max({slot, page, std::min(options.block_size, std::size_t{1} << 18U)});
  const auto slots_a_block = block / slot;
  return {slot, block, (options.send_slots + slots_a_block - 1) / slots_a_block};
}

result<void> set_up_send_ring(int fd, const send_ring_shape& wanted) {
  tpacket_req3 shape{};
  shape.tp_block_size = static_cast<unsigned>(wanted.block_size);
  shape.tp_block_nr = static_cast<unsigned>(wanted.block_count);
  shape.tp_frame_size = static_cast<unsigned>(wanted.slot_size);
  shape.tp_frame_nr =
      static_cast<unsigned>(wanted.block_size / wanted.slot_size * wanted.block_count);
  if (::setsockopt(fd, SOL_PACKET, PACKET_TX_RING, &shape, sizeof shape) != 0) {
    return system_failure(errno,
                          "create a send ring of " + std::to_string(shape.tp_frame_nr) + " slots",
                          "use fewer slots");
  }
  return {};
}

}  // namespace

received_frame frame_block::iterator::operator*() const {
  const auto& tag = frame_header_of(at_).hv1;
  return read_ring_frame<tpacket3_hdr>(at_, tag.tp_vlan_tpid, tag.tp_vlan_tci);
}

frame_block::iterator& frame_block::iterator::operator++() {
  at_ += frame_header_of(at_).tp_next_offset;
  --left_;
  return *this;
}

frame_block& frame_block::operator=(frame_block&& other) noexcept {
  if (this != &other) {
    give_back();
    memory_ = std::exchange(other.memory_, nullptr);
  }
  return *this;
}

std::size_t frame_block::size() const { return block_header_of(memory_).num_pkts; }

frame_block::iterator frame_block::begin() const {
  const auto& header = block_header_of(memory_);
  return {memory_ + header.offset_to_first_pkt, header.num_pkts};
}

void frame_block::give_back() {
  if (memory_ == nullptr) return;
  set_status(block_header_of(std::exchange(memory_, nullptr)).block_status, TP_STATUS_KERNEL);
}

packet_ring::packet_ring(interface link, unique_fd fd, mapping memory,
                         const packet_ring_options& options)
    : link_(std::move(link)),
      fd_(std::move(fd)),
      stamps_(card_stamps::on(link_, wanted_stamps::by(options.socket))),
      memory_(std::move(memory)),
      block_size_(options.block_size),
      block_count_(options.socket.receives ? options.block_count : 0) {
  if (options.send_slots == 0) return;
  const auto shape = shape_of_send_ring(link_, options);
  send_slots_ = memory_.bytes().data() + block_size_ * block_count_;
  send_slot_size_ = shape.slot_size;
  send_count_ = shape.block_size / shape.slot_size * shape.block_count;
}

// Destroys and reconstructs as a whole: an open block must be given back before its memory goes.
packet_ring& packet_ring::operator=(packet_ring&& other) noexcept {
  if (this != &other) {
    std::destroy_at(this);
    std::construct_at(this, std::move(other));
  }
  return *this;
}

result<packet_ring> packet_ring::create_bound(std::string_view interface_name,
                                              const packet_ring_options& options) {
  if (auto good = check(options); !good) return std::unexpected(good.error());
  auto found = interface::query(interface_name);
  if (!found) return std::unexpected(found.error());
  auto fd = open_packet_socket(*found, options.socket);
  if (!fd) return std::unexpected(fd.error());
  const auto shape = shape_of_send_ring(*found, options);
  const auto receive_size = options.socket.receives ? options.block_size * options.block_count : 0;
  const auto size = receive_size + shape.block_size * shape.block_count;
  if (auto fits = check_ring_memory(1, size, "the rings of " + found->name); !fits) {
    return std::unexpected(fits.error());
  }
  const int version = TPACKET_V3;
  if (::setsockopt(fd->get(), SOL_PACKET, PACKET_VERSION, &version, sizeof version) != 0) {
    return system_failure(errno, "use TPACKET_V3 on " + found->name);
  }
  if (options.socket.receives) {
    if (auto made = set_up_receive_ring(fd->get(), options); !made) {
      return std::unexpected(made.error());
    }
  }
  if (options.send_slots != 0) {
    if (auto made = set_up_send_ring(fd->get(), shape); !made) {
      return std::unexpected(made.error());
    }
  }
  auto memory = mapping::of(fd->get(), size, "the rings of " + found->name);
  if (!memory) return std::unexpected(memory.error());
  if (auto bound = bind_packet_socket(fd->get(), *found, options.socket); !bound) {
    return std::unexpected(bound.error());
  }
  return packet_ring(std::move(*found), std::move(*fd), std::move(*memory), options);
}

std::optional<frame_block> packet_ring::try_block() {
  if (block_count_ == 0) return std::nullopt;
  std::byte* const block = memory_.bytes().data() + next_block_ * block_size_;
  if (!take_from_kernel(block_header_of(block).block_status)) return std::nullopt;
  down_ = false;
  next_block_ = next_block_ + 1 == block_count_ ? 0 : next_block_ + 1;
  return frame_block(block);
}

result<std::size_t> packet_ring::try_receive(std::span<frame_slot> slots) {
  std::size_t filled = 0;
  while (filled < slots.size()) {
    if (!open_) {
      open_ = try_block();
      if (!open_) break;
      position_ = open_->begin();
    }
    for (; filled < slots.size() && position_ != open_->end(); ++position_, ++filled) {
      copy_into(slots[filled], *position_);
    }
    if (position_ == open_->end()) open_.reset();
  }
  if (filled != 0) return filled;
  if (auto failed = take_socket_error(fd_.get(), link_, down_)) {
    return std::unexpected(std::move(*failed));
  }
  return 0;
}

result<std::size_t> packet_ring::try_send(std::span<const byte_span> frames) {
  if (send_count_ == 0) {
    return failure(errc::not_supported, "send through a packet ring on " + link_.name,
                   "the ring has no send slots", "set send_slots");
  }
  std::size_t written = 0;
  while (written < frames.size() && written < send_count_ && fits(frames[written]) &&
         status_of(send_header(written).tp_status) == TP_STATUS_AVAILABLE) {
    const auto& bytes = frames[written];
    auto& header = send_header(written);
    std::memcpy(reinterpret_cast<std::byte*>(&header) + send_offset, bytes.data(), bytes.size());
    header.tp_len = static_cast<std::uint32_t>(bytes.size());
    header.tp_next_offset = 0;
    set_status(header.tp_status, TP_STATUS_SEND_REQUEST);
    ++written;
  }
  int code = written != 0 ? kick() : 0;
  const auto taken = settle(written);
  if (taken != 0 || frames.empty()) return taken;
  const auto size = frames[0].size();
  if (written == 0 && !fits(frames[0])) {
    code = size < wire::ethernet_header_size ? EINVAL : EMSGSIZE;
  }
  if (code == 0) return 0;
  return std::unexpected(
      packet_error(fd(), code, "send a frame of " + std::to_string(size) + " bytes on", link_));
}

bool packet_ring::fits(byte_span frame) const {
  return frame.size() >= wire::ethernet_header_size &&
         frame.size() <= send_slot_size_ - send_offset;
}

tpacket3_hdr& packet_ring::send_header(std::size_t ahead) const {
  return frame_header_of(send_slots_ + (next_send_ + ahead) % send_count_ * send_slot_size_);
}

// Has the kernel send the contents of the slots; returns the errno of its refusal, 0 if it only
// lacks room.
int packet_ring::kick() {
  while (::send(fd_.get(), nullptr, 0, MSG_DONTWAIT) < 0) {
    if (errno == EAGAIN || errno == ENOBUFS) return 0;
    if (errno != EINTR) return errno;
  }
  return 0;
}

// The kernel takes slots in order and stops at one that it does not accept, for lack of room or
// because the frame is invalid. This empties that slot and those behind it again: the caller alone
// keeps the frames that are not reported as accepted.
std::size_t packet_ring::settle(std::size_t written) {
  constexpr std::uint32_t not_taken = TP_STATUS_SEND_REQUEST | TP_STATUS_WRONG_FORMAT;
  std::size_t taken = 0;
  while (taken < written && (status_of(send_header(taken).tp_status) & not_taken) == 0) ++taken;
  for (auto left = taken; left < written; ++left) {
    set_status(send_header(left).tp_status, TP_STATUS_AVAILABLE);
  }
  next_send_ = (next_send_ + taken) % send_count_;
  return taken;
}

result<device_statistics> packet_ring::statistics() {
  if (auto added = add_statistics(fd_.get(), true, link_, counted_); !added) {
    return std::unexpected(added.error());
  }
  return counted_;
}

}  // namespace strata::l2
