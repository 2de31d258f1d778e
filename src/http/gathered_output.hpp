// Gathers many small pieces of output into few for a stream, by copying them into one block. A
// large piece is not copied.
#pragma once

#include "loop/slice.hpp"
#include "net/stream.hpp"

namespace strata::http {

class gathered_output {
 public:
  explicit gathered_output(net::stream& stream) : to_(stream) {}
  gathered_output(const gathered_output&) = delete;
  gathered_output& operator=(const gathered_output&) = delete;
  ~gathered_output() { forget_block(); }

  void append(byte_span bytes);
  void append(const loop::slice& piece);
  /// Passes everything on to the stream.
  void push();
  /// Frees the memory until there is output again. Call it after `push`.
  void forget_block();

 private:
  static constexpr std::uint32_t block_size = 16U << 10U;
  static constexpr std::uint32_t small_piece = 2048;

  net::stream& to_;
  loop::chunk* block_ = nullptr;
  std::uint32_t pushed_ = 0;  // bytes of the block that are pushed
};

}  // namespace strata::http
