#include "loop/backends/uring_buffers.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace strata::loop {

namespace {

// The number of buffers in circulation unless more are needed: few of them stay in the caches and
// the TLB.
constexpr std::uint32_t least_offered = 32;
// With more bytes per reap than this, more buffers would only push each other out of the caches.
constexpr std::size_t most_per_reap = 1U << 20U;
constexpr unsigned calm_reaps = 1024;  // consecutive reaps with little need before fewer are
                                       // offered
constexpr std::uint16_t group = 0;

}  // namespace

uring_buffers::~uring_buffers() {
  if (ring_ != nullptr) ::munmap(ring_, all_bytes());
}

// Maps and registers the ring by hand, since liburing 2.3 has no io_uring_setup_buf_ring.
result<void> uring_buffers::set_up(io_uring& uring) {
  void* mapped =
      ::mmap(nullptr, all_bytes(), PROT_READ | PROT_WRITE, MAP_ANONYMOUS | MAP_PRIVATE, -1, 0);
  if (mapped == MAP_FAILED) return system_failure(errno, "map the receive buffers");
  ring_ = static_cast<io_uring_buf_ring*>(mapped);
  memory_ = static_cast<std::byte*>(mapped) + ring_bytes();
  io_uring_buf_reg registration{};
  registration.ring_addr = reinterpret_cast<std::uint64_t>(ring_);
  registration.ring_entries = count_;
  registration.bgid = group;
  const int code = io_uring_register_buf_ring(&uring, &registration, 0);
  if (code < 0) {
    return system_failure(-code, "register io_uring's buffer ring",
                          "it needs Linux 6.1; use --loop epoll");
  }
  io_uring_buf_ring_init(ring_);
  offered_ = least_offered;
  for (std::uint32_t id = 0; id < count_; ++id) give_back(id);
  return {};
}

void uring_buffers::select(io_uring_sqe& sqe) {
  sqe.flags |= IOSQE_BUFFER_SELECT;
  sqe.buf_group = group;
}

buffer uring_buffers::take(const io_uring_cqe& cqe) {
  const std::uint32_t id = cqe.flags >> IORING_CQE_BUFFER_SHIFT;
  const auto size = static_cast<std::size_t>(std::max(cqe.res, 0));
  --free_;
  reaped_bytes_ += size;
  return {*this, id, byte_span{memory_of(id), size}};
}

void uring_buffers::note_reap() {
  const bool is_much = std::exchange(reaped_bytes_, 0) > most_per_reap;
  if (std::exchange(is_wanting_, false) && !is_much) {
    offered_ = std::min<std::uint32_t>(offered_ * 2, count_);
  }
  if (free_ < offered_ / 2) {
    calm_ = 0;
  } else if (++calm_ == calm_reaps) {
    calm_ = 0;
    offered_ = std::max(offered_ / 2, least_offered);
  }
}

void uring_buffers::refill() {
  while (free_ < offered_ && !resting_.empty()) {
    offer(resting_.back());
    resting_.pop_back();
  }
}

void uring_buffers::give_back(std::uint32_t id) {
  if (free_ < offered_) {
    offer(id);
  } else {
    resting_.push_back(id);
  }
}

void uring_buffers::offer(std::uint32_t id) {
  io_uring_buf_ring_add(ring_, memory_of(id), size_, static_cast<std::uint16_t>(id),
                        io_uring_buf_ring_mask(count_), 0);
  io_uring_buf_ring_advance(ring_, 1);
  ++free_;
}

}  // namespace strata::loop
