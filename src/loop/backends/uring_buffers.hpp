// The buffers into which an io_uring receives: a ring shared by kernel and process. Least kernel
// 5.19. Source: io_uring_register(2), IORING_REGISTER_PBUF_RING.
//
// For one loop's thread.
#pragma once

#include <liburing.h>

#include <cstdint>
#include <vector>

#include "loop/request.hpp"
#include "strata/base/result.hpp"

namespace strata::loop {

class uring_buffers final : private buffer::pool {
 public:
  /// `count`: a power of two. `size`: bytes per buffer.
  uring_buffers(std::uint16_t count, std::uint32_t size) : count_(count), size_(size) {}
  ~uring_buffers();
  uring_buffers(const uring_buffers&) = delete;
  uring_buffers& operator=(const uring_buffers&) = delete;

  /// Registers the buffers; called before all else. Close the ring before destroying this. Errors:
  /// those of the system.
  [[nodiscard]] result<void> set_up(io_uring& uring);
  /// Has a receive choose one of these buffers.
  static void select(io_uring_sqe& sqe);

  /// The number of buffers that the kernel may fill.
  [[nodiscard]] std::uint32_t free() const { return free_; }
  [[nodiscard]] std::uint32_t size() const { return size_; }
  /// Returns the buffer that the kernel filled, according to its completion.
  [[nodiscard]] buffer take(const io_uring_cqe& cqe);
  /// Records that a receive found no free buffer.
  void note_want() { is_wanting_ = true; }
  /// Called at the end of each reap. If a receive found no free buffer, twice as many circulate
  /// from now on, unless those of this reap have much to process; if few were needed for long, half
  /// as many do.
  void note_reap();
  /// Offers the kernel more buffers if it has fewer than it should.
  void refill();

 private:
  void give_back(std::uint32_t id) override;
  void offer(std::uint32_t id);
  [[nodiscard]] std::size_t ring_bytes() const { return count_ * sizeof(io_uring_buf); }
  [[nodiscard]] std::size_t all_bytes() const { return ring_bytes() + std::size_t{count_} * size_; }
  [[nodiscard]] std::byte* memory_of(std::uint32_t id) const {
    return memory_ + std::size_t{id} * size_;
  }

  std::uint16_t count_;
  std::uint32_t size_;
  io_uring_buf_ring* ring_ = nullptr;
  std::byte* memory_ = nullptr;
  std::uint32_t free_ = 0;
  std::uint32_t offered_ = 0;           // how many should be free
  std::vector<std::uint32_t> resting_;  // unused buffers that are not offered
  std::size_t reaped_bytes_ = 0;        // since the last `note_reap`
  bool is_wanting_ = false;             // since then
  unsigned calm_ = 0;                   // consecutive reaps that needed few
};

}  // namespace strata::loop
