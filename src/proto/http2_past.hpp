// Streams of a client that cannot be used any more: those that it has ended itself, and those that
// it has skipped. Only the last few are known, so a frame of any other closed stream may be one
// that was under way when this end reset it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace strata::proto {

class http2_past {
 public:
  /// A request begins, with an identifier above all before.
  void begin(std::int32_t stream) {
    if (stream > last_ + 2) {
      skipped_[next_skipped_++ % skipped_.size()] = {.first = last_ + 2, .last = stream - 2};
    }
    last_ = std::max(last_, stream);
  }
  /// The client has ended its side, or reset the stream.
  void end(std::int32_t stream) { ended_[next_ended_++ % ended_.size()] = stream; }

  [[nodiscard]] bool has_ended(std::int32_t stream) const {
    return std::ranges::find(ended_, stream) != ended_.end();
  }
  /// Closed by a later one before it was used (RFC 9113, section 5.1.1).
  [[nodiscard]] bool has_skipped(std::int32_t stream) const {
    return std::ranges::any_of(skipped_, [stream](const range& each) {
      return each.first <= stream && stream <= each.last;
    });
  }

 private:
  struct range {
    std::int32_t first = 0;
    std::int32_t last = -1;
  };

  std::array<std::int32_t, 32> ended_{};
  std::array<range, 4> skipped_{};
  std::size_t next_ended_ = 0;
  std::size_t next_skipped_ = 0;
  std::int32_t last_ = -1;
};

}  // namespace strata::proto
