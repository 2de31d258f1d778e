// What of a body waits to go out on a stream of HTTP/2. For http2_* alone.
#pragma once

#include <cstddef>
#include <vector>

#include "http/gathered_output.hpp"

namespace strata::http {

/// So much may wait for the kernel, on a connection. More stays in its streams, where it can still
/// be weighed.
inline constexpr std::size_t http2_high_water = 256U << 10U;
inline constexpr std::size_t http2_low_water = 64U << 10U;
/// A peer may have sent much at once: after this number of pieces, others have their turn.
inline constexpr unsigned http2_pieces_a_turn = 16;

class http2_body {
 public:
  [[nodiscard]] std::size_t bytes() const { return waiting_; }
  void push(const loop::slice& piece);
  /// The first `count` bytes are sent.
  void move(std::size_t count, gathered_output& output);
  void clear();

 private:
  std::vector<loop::slice> pieces_;
  std::size_t first_ = 0;    // pieces before this one are gone
  std::size_t waiting_ = 0;  // bytes of pieces
};

}  // namespace strata::http
