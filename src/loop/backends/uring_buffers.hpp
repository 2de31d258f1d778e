// The buffers into which an io_uring receives: a ring of them that kernel and process share.
// Least kernel 5.19. Source: io_uring_register(2), IORING_REGISTER_PBUF_RING.
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
  /// `count`: a power of two. `size`: bytes of each.
  uring_buffers(std::uint16_t count, std::uint32_t size) : count_(count), size_(size) {}
  ~uring_buffers();
  uring_buffers(const uring_buffers&) = delete;
  uring_buffers& operator=(const uring_buffers&) = delete;

  /// Before anything else. The ring is closed before this is destroyed. Errors: of the system.
  [[nodiscard]] result<void> set_up(io_uring& uring);
  /// Has a receive choose one of these.
  static void select(io_uring_sqe& sqe);

  /// How many the kernel may fill.
  [[nodiscard]] std::uint32_t free() const { return free_; }
  [[nodiscard]] std::uint32_t size() const { return size_; }
  /// What the kernel has filled, by a completion that says so.
  [[nodiscard]] buffer take(const io_uring_cqe& cqe);
  /// A receive has found none free: more go round from now on.
  void note_want() { offered_ = offered_ * 2 < count_ ? offered_ * 2 : count_; }
  /// At the end of each reap: when few are needed for long, fewer go round.
  void note_reap();
  /// Offers the kernel more, where there are fewer than it should have.
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
  std::vector<std::uint32_t> resting_;  // the others that nobody uses
  unsigned calm_ = 0;                   // reaps that have needed few, in a row
};

}  // namespace strata::loop
