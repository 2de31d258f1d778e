#include "ipc/assembly.hpp"

#include <utility>

namespace strata::ipc {

std::optional<byte_span> assembly::add(std::uint64_t sender, std::uint64_t sequence,
                                       const wire::ipc_fragment& piece, ipc_time now) {
  if (is_too_large(piece)) return std::nullopt;
  auto& message = find_or_begin(sender, piece, now);
  // Fragments of one sender's message must agree; otherwise they form no message.
  if (message.bytes.size() != piece.total || message.count != piece.count) return std::nullopt;
  copy_bytes(piece.piece, mutable_byte_span(message.bytes).subspan(piece.offset_of(sequence)));
  if (--message.missing != 0) return std::nullopt;
  complete_ = std::move(message.bytes);
  bytes_ -= complete_.size();
  partial_.erase(partial_.begin() + (&message - partial_.data()));
  return complete_;
}

assembly::partial_message& assembly::find_or_begin(std::uint64_t sender,
                                                   const wire::ipc_fragment& piece, ipc_time now) {
  for (auto& each : partial_) {
    if (each.first == piece.first && each.sender == sender) return each;
  }
  while (!partial_.empty() &&
         (partial_.size() >= limits_.max_partial || bytes_ + piece.total > limits_.max_bytes)) {
    drop(0);
  }
  bytes_ += piece.total;
  auto& begun = partial_.emplace_back(partial_message{.sender = sender,
                                                      .first = piece.first,
                                                      .count = piece.count,
                                                      .missing = piece.count,
                                                      .begun = now,
                                                      .bytes = std::exchange(complete_, {})});
  begun.bytes.resize(piece.total);
  return begun;
}

void assembly::expire(ipc_time now) {
  while (!partial_.empty() && now - partial_.front().begun > limits_.timeout) drop(0);
}

void assembly::forget(std::uint64_t sender) {
  for (std::size_t i = partial_.size(); i-- > 0;) {
    if (partial_[i].sender == sender) drop(i);
  }
}

void assembly::drop(std::size_t offset) {
  bytes_ -= partial_[offset].bytes.size();
  partial_.erase(partial_.begin() + static_cast<std::ptrdiff_t>(offset));
  ++dropped_;
}

}  // namespace strata::ipc
