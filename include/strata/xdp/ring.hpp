// The four rings between an AF_XDP socket and the kernel, in shared memory. Each has one producer
// and one consumer; calls are inline, work in batches, and allocate nothing.
//
// A ring belongs to its socket and must not be used after the socket is destroyed. Each ring is for
// one thread at a time; different threads may use different rings of a socket. Source: kernel doc
// Documentation/networking/af_xdp.rst.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace strata::xdp {

/// A frame, or a part of one, in a receive or transmit ring: struct xdp_desc.
struct descriptor {
  std::uint64_t address = 0;  ///< offset in the UMEM, in bytes; see umem::bytes
  std::uint32_t length = 0;   ///< in bytes
  std::uint32_t options = 0;  ///< 0 or `continues`

  /// The frame continues in the next descriptor (multi-buffer, Linux 6.6).
  static constexpr std::uint32_t continues = 1;
};

/// The memory of a ring; set by the socket.
struct ring_memory {
  std::uint32_t* producer = nullptr;
  std::uint32_t* consumer = nullptr;
  std::uint32_t* flags = nullptr;
  void* entries = nullptr;
  std::uint32_t size = 0;  ///< entries, a power of two; 0 means no such ring
};

/// Consecutive entries of a ring, which may wrap from its end to its beginning.
template <class Entry>
class ring_slice {
 public:
  ring_slice() = default;
  ring_slice(Entry* entries, std::uint32_t mask, std::uint32_t first, std::uint32_t count)
      : entries_(entries), mask_(mask), first_(first), count_(count) {}

  [[nodiscard]] std::uint32_t size() const { return count_; }
  [[nodiscard]] bool empty() const { return count_ == 0; }
  /// `index` below `size()`.
  [[nodiscard]] Entry& operator[](std::uint32_t index) const {
    return entries_[(first_ + index) & mask_];
  }

 private:
  Entry* entries_ = nullptr;
  std::uint32_t mask_ = 0;
  std::uint32_t first_ = 0;
  std::uint32_t count_ = 0;
};

namespace detail {

[[nodiscard]] inline std::uint32_t load_acquire(std::uint32_t* from) {
  return std::atomic_ref(*from).load(std::memory_order_acquire);
}

inline void store_release(std::uint32_t* to, std::uint32_t value) {
  std::atomic_ref(*to).store(value, std::memory_order_release);
}

constexpr std::uint32_t need_wakeup = 1;  // XDP_RING_NEED_WAKEUP

}  // namespace detail

/// A ring that user space fills: the fill ring and the transmit ring.
template <class Entry>
class producer_ring {
 public:
  producer_ring() = default;
  explicit producer_ring(const ring_memory& memory)
      : where_(memory),
        produced_(memory.size == 0 ? 0 : *memory.producer),
        consumed_(memory.size == 0 ? 0 : *memory.consumer) {}

  [[nodiscard]] std::uint32_t size() const { return where_.size; }

  /// Returns up to `most` free places, fewer if the ring has no more. They stay free until
  /// `submit`.
  [[nodiscard]] ring_slice<Entry> reserve(std::uint32_t most) {
    auto free = where_.size - (produced_ - consumed_);
    if (free < most && where_.size != 0) {
      consumed_ = detail::load_acquire(where_.consumer);
      free = where_.size - (produced_ - consumed_);
    }
    return {static_cast<Entry*>(where_.entries), where_.size - 1, produced_, std::min(most, free)};
  }

  /// Passes the first `count` reserved places to the kernel.
  void submit(std::uint32_t count) {
    produced_ += count;
    detail::store_release(where_.producer, produced_);
  }

  /// Reports whether the kernel waits for a call (socket::wake_transmit, wake_receive) before it
  /// reads the ring again. Always false if the socket was created without `need_wakeup`.
  [[nodiscard]] bool needs_wakeup() const {
    return where_.size != 0 && (std::atomic_ref(*where_.flags).load(std::memory_order_relaxed) &
                                detail::need_wakeup) != 0;
  }

 private:
  ring_memory where_;
  std::uint32_t produced_ = 0;
  std::uint32_t consumed_ = 0;  // as last seen
};

/// A ring that the kernel fills: the completion ring and the receive ring.
template <class Entry>
class consumer_ring {
 public:
  consumer_ring() = default;
  explicit consumer_ring(const ring_memory& memory)
      : where_(memory),
        produced_(memory.size == 0 ? 0 : *memory.producer),
        consumed_(memory.size == 0 ? 0 : *memory.consumer) {}

  [[nodiscard]] std::uint32_t size() const { return where_.size; }

  /// Returns the number of released entries, modulo 2^32.
  [[nodiscard]] std::uint32_t total() const { return consumed_; }

  /// Returns up to `most` available entries. They stay until `release`.
  [[nodiscard]] ring_slice<const Entry> peek(std::uint32_t most) {
    auto there = produced_ - consumed_;
    if (there < most && where_.size != 0) {
      produced_ = detail::load_acquire(where_.producer);
      there = produced_ - consumed_;
    }
    return {static_cast<const Entry*>(where_.entries), where_.size - 1, consumed_,
            std::min(most, there)};
  }

  /// Returns the places of the first `count` entries to the kernel.
  void release(std::uint32_t count) {
    consumed_ += count;
    detail::store_release(where_.consumer, consumed_);
  }

 private:
  ring_memory where_;
  std::uint32_t produced_ = 0;  // as last seen
  std::uint32_t consumed_ = 0;
};

/// Addresses of frames for the kernel to receive into.
using fill_ring = producer_ring<std::uint64_t>;
/// Addresses of frames that were sent and are free again.
using completion_ring = consumer_ring<std::uint64_t>;
using receive_ring = consumer_ring<descriptor>;
using transmit_ring = producer_ring<descriptor>;

}  // namespace strata::xdp
