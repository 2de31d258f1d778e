// The messages that are sent: each begins with a stamp. Both ends are the same program on machines
// of the same byte order, so stamps are in the host's byte order.
#pragma once

#include <time.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "strata/base/bytes.hpp"

namespace strata::measure {

struct stamp {
  std::uint64_t sequence = 0;
  std::uint64_t time_ns = 0;  ///< the intended send time; 0 if not needed
  std::uint64_t run = 0;      ///< distinguishes a measurement's messages from late ones of another
};

/// Stamps of consecutive messages.
struct pace {
  stamp first;
  double interval_ns = 0;

  [[nodiscard]] stamp at(std::size_t index) const {
    const auto later = static_cast<std::uint64_t>(interval_ns * static_cast<double>(index));
    return {.sequence = first.sequence + index,
            .time_ns = first.time_ns == 0 ? 0 : first.time_ns + later,
            .run = first.run};
  }
};

inline constexpr std::size_t min_payload = sizeof(stamp);
inline constexpr std::size_t max_payload = 8900;

/// Memory for messages of one size, each behind the same prefix (a frame's header, or nothing),
/// contiguous without gaps.
class message_batch {
 public:
  /// `padding` zeros follow each payload.
  message_batch(byte_span prefix, std::size_t payload, std::size_t padding, std::size_t count)
      : prefix_size_(prefix.size()),
        stride_(prefix.size() + payload + padding),
        memory_(stride_ * count) {
    for (std::size_t i = 0; i < count; ++i) {
      const mutable_byte_span whole(memory_.data() + i * stride_, stride_);
      copy_bytes(prefix, whole);
      spans_.emplace_back(whole);
    }
  }

  /// Stamps the first `count` messages; their bytes are valid until the next call.
  std::span<const byte_span> write(const pace& stamps, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      const stamp each = stamps.at(i);
      std::memcpy(memory_.data() + i * stride_ + prefix_size_, &each, sizeof each);
    }
    return std::span(spans_).first(count);
  }

  [[nodiscard]] std::size_t count() const { return spans_.size(); }
  [[nodiscard]] std::size_t stride() const { return stride_; }
  [[nodiscard]] byte_span memory() const { return memory_; }

 private:
  std::size_t prefix_size_;
  std::size_t stride_;
  std::vector<std::byte> memory_;
  std::vector<byte_span> spans_;
};

/// Returns the time by CLOCK_MONOTONIC, which all processes of a machine share.
[[nodiscard]] inline std::uint64_t now_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(time.tv_nsec);
}

/// Returns the CPU time of the calling thread so far, user and kernel.
[[nodiscard]] inline std::uint64_t thread_cpu_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(time.tv_nsec);
}

}  // namespace strata::measure
