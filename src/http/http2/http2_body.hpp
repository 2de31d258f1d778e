// The unsent part of a body on an HTTP/2 stream. For http2_* alone.
#pragma once

#include <cstddef>
#include <vector>

#include "http/gathered_output.hpp"

namespace strata::http {

/// A peer may have sent much at once: after this number of pieces, other connections run.
inline constexpr unsigned http2_pieces_a_turn = 16;

class http2_body {
 public:
  [[nodiscard]] std::size_t bytes() const { return waiting_; }
  void push(const loop::slice& piece);
  /// Moves the first `count` bytes to the output.
  void move(std::size_t count, gathered_output& output);
  void clear();

 private:
  std::vector<loop::slice> pieces_;
  std::size_t first_ = 0;    // pieces before this one are sent
  std::size_t waiting_ = 0;  // bytes in `pieces`
};

}  // namespace strata::http
