#include "http/gathered_output.hpp"

#include <algorithm>
#include <utility>

namespace strata::http {

void gathered_output::append(byte_span bytes) {
  while (!bytes.empty()) {
    if (block_ != nullptr && block_->room() == 0) {
      push();
      forget_block();
    }
    if (block_ == nullptr) {
      block_ = loop::chunk::make(block_size);
    } else if (pushed_ == block_->size() && block_->unshared()) {
      block_->clear();
      pushed_ = 0;
    }
    const auto part = bytes.first(std::min<std::size_t>(bytes.size(), block_->room()));
    block_->append(part);
    bytes = bytes.subspan(part.size());
  }
}

void gathered_output::append(const loop::slice& piece) {
  if (piece.size() <= small_piece) {
    append(piece.bytes());
  } else {
    push();
    to_.push(piece);
  }
}

void gathered_output::push() {
  if (block_ == nullptr || pushed_ == block_->size()) return;
  // The analyzer does not track the reference count.
  const auto size = block_->size();                         // NOLINT(clang-analyzer-unix.Malloc)
  to_.push(loop::slice(*block_, pushed_, size - pushed_));  // NOLINT(clang-analyzer-unix.Malloc)
  pushed_ = size;
}

void gathered_output::forget_block() {
  if (block_ != nullptr) {
    std::exchange(block_, nullptr)->release();  // NOLINT(clang-analyzer-unix.Malloc)
  }
  pushed_ = 0;
}

}  // namespace strata::http
