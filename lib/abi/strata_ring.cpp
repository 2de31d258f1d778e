// The C ABI of packet rings: translates to the C++ library and back. Keeps the frames that it lends
// until the next call.
#include <algorithm>
#include <cerrno>
#include <new>
#include <variant>

#include "abi/error.hpp"
#include "abi/options.hpp"
#include "abi/raw_options.hpp"
#include "abi/waiting.hpp"
#include "strata/l2/frame_ring.hpp"
#include "strata/l2/packet_ring.hpp"
#include "strata/strata_l2.h"

namespace l2 = strata::l2;
using strata::result;
using strata::abi::batch_of;
using strata::abi::copy_mac;
using strata::abi::fail;
using strata::abi::fail_missing;
using strata::abi::options_of;
using strata::abi::received_of;

namespace {

/// Reads blocks: lends one block, and continues where the last call ended.
struct block_reader {
  l2::packet_ring ring;
  std::optional<l2::frame_block> lent{};
  l2::frame_block::iterator next{};

  void give_back() {
    if (lent && next == lent->end()) lent.reset();
  }
  result<std::size_t> read(std::span<strata_received> frames) {
    give_back();
    if (!lent) {
      lent = ring.try_block();
      if (!lent) return news();
      next = lent->begin();
    }
    std::size_t count = 0;
    for (; count < frames.size() && next != lent->end(); ++next) {
      frames[count++] = received_of(*next);
    }
    return count;
  }
  /// Returns an error of the link, if there is one.
  result<std::size_t> news() { return ring.try_receive({}); }
};

/// Reads single frames: lends as many as one call took.
struct frame_reader {
  l2::frame_ring ring;
  std::vector<l2::ring_frame> lent{};

  void give_back() { lent.clear(); }
  result<std::size_t> read(std::span<strata_received> frames) {
    give_back();
    // The ring returns each frame at most once, so half of it always belongs to the kernel.
    while (lent.size() < std::min(frames.size(), lent.capacity())) {
      auto frame = ring.try_frame();
      if (!frame) break;
      frames[lent.size()] = received_of(**frame);
      lent.push_back(std::move(*frame));
    }
    if (lent.empty()) return ring.try_receive({});
    return lent.size();
  }
};

l2::packet_ring_options block_options_of(const strata_ring_options& options) {
  return {.socket = options_of(options.socket),
          .block_size = options.block_size,
          .block_count = options.block_count,
          .block_timeout = std::chrono::milliseconds(options.block_timeout_ms),
          .send_slots = options.send_slots};
}

}  // namespace

struct strata_ring {
  std::variant<block_reader, frame_reader> within;

  [[nodiscard]] l2::device& device() {
    return std::visit([](auto& reader) -> l2::device& { return reader.ring; }, within);
  }
  [[nodiscard]] const l2::device& device() const {
    return std::visit([](const auto& reader) -> const l2::device& { return reader.ring; }, within);
  }
};

void strata_ring_defaults(strata_ring_options* options) {
  const l2::packet_ring_options blocks;
  const l2::frame_ring_options frames;
  *options = {.size = sizeof *options,
              .socket = nullptr,
              .kind = STRATA_RING_BLOCKS,
              .block_size = static_cast<std::uint32_t>(blocks.block_size),
              .block_count = static_cast<std::uint32_t>(blocks.block_count),
              .block_timeout_ms = static_cast<std::uint32_t>(blocks.block_timeout.count()),
              .send_slots = 0,
              .slots = static_cast<std::uint32_t>(frames.slots),
              .frame_size = 0};
}

int strata_ring_open(const char* interface_name, const strata_ring_options* options,
                     strata_ring** ring) {
  if (interface_name == nullptr || ring == nullptr) return fail_missing("an interface");
  const auto from = strata::abi::known(options, strata_ring_defaults);
  if (from.kind == STRATA_RING_FRAMES) {
    auto made = l2::frame_ring::create_bound(
        interface_name,
        {.socket = options_of(from.socket), .slots = from.slots, .frame_size = from.frame_size});
    if (!made) return fail(made.error());
    frame_reader reader{std::move(*made)};
    reader.lent.reserve(std::clamp<std::size_t>(from.slots / 2, 1, l2::raw_socket::max_batch));
    *ring = new (std::nothrow) strata_ring{std::move(reader)};
  } else {
    auto made = l2::packet_ring::create_bound(interface_name, block_options_of(from));
    if (!made) return fail(made.error());
    *ring = new (std::nothrow) strata_ring{block_reader{std::move(*made)}};
  }
  return *ring == nullptr ? -ENOMEM : 0;
}

void strata_ring_close(strata_ring* ring) { delete ring; }

int strata_ring_fd(const strata_ring* ring) { return ring->device().fd(); }

void strata_ring_mac(const strata_ring* ring, uint8_t mac[6]) {
  copy_mac(ring->device().link().mac, mac);
}

uint32_t strata_ring_mtu(const strata_ring* ring) { return ring->device().link().mtu; }

int strata_ring_receive(strata_ring* ring, strata_received* frames, size_t count, int timeout_ms,
                        size_t* received) {
  if ((frames == nullptr && count != 0) || received == nullptr) {
    return fail_missing("the array for frames");
  }
  if (count == 0) {
    std::visit([](auto& reader) { reader.give_back(); }, ring->within);
    *received = 0;
    return 0;
  }
  const auto taken = std::visit(
      [&](auto& reader) {
        return strata::abi::wait_for_some(reader.ring, timeout_ms,
                                          [&] { return reader.read({frames, count}); });
      },
      ring->within);
  if (!taken) return fail(taken.error());
  *received = *taken;
  return 0;
}

int strata_ring_send(strata_ring* ring, const struct iovec* frames, size_t count, size_t* sent) {
  if ((frames == nullptr && count != 0) || sent == nullptr) return fail_missing("frames");
  const auto taken = ring->device().try_send(batch_of(frames, count).spans());
  if (!taken) return fail(taken.error());
  *sent = *taken;
  return 0;
}

int strata_ring_statistics(strata_ring* ring, uint64_t* received, uint64_t* dropped) {
  const auto counted = ring->device().statistics();
  if (!counted) return fail(counted.error());
  *received = counted->received;
  *dropped = counted->dropped;
  return 0;
}
