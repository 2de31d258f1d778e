#include "ipc/outbox.hpp"

#include <algorithm>
#include <bit>
#include <tuple>

#include "strata/wire/big_endian.hpp"

namespace strata::ipc {

namespace {

constexpr std::size_t cache_line = 64;

}  // namespace

outbox::outbox(std::size_t payload_size, std::size_t count, const wire::frame_header& header)
    : payload_size_(payload_size),
      buffer_size_((wire::ethernet_header_size + payload_size + cache_line - 1) / cache_line *
                   cache_line),
      memory_(buffer_size_ * count),
      frames_(std::bit_ceil(count)) {
  free_.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    free_.push_back(static_cast<std::uint32_t>(i));
    const auto head =
        mutable_byte_span(memory_).subspan(i * buffer_size_, wire::ethernet_header_size);
    copy_bytes(header.source.bytes(), copy_bytes(header.destination.bytes(), head));
    wire::write_u16(head.last<2>(), header.ethertype.value_or(0));
  }
}

std::size_t outbox::largest_packed() const {
  return payload_size_ - wire::ipc_header_size - wire::ipc_records::head_size;
}

std::size_t outbox::largest_piece() const {
  return payload_size_ - wire::ipc_header_size - wire::ipc_fragment::head_size;
}

bool outbox::has_room_for(std::size_t size) const {
  if (size > largest_packed()) return free_.size() * largest_piece() >= size;
  return !free_.empty() || has_room_beside(size);
}

outgoing_frame& outbox::open_new(wire::ipc_kind kind) {
  auto& frame = (*this)[end_++];
  frame = {.kind = kind,
           .message = messages_,
           .buffer = free_.back(),
           .size = wire::ipc_header_size,
           .sent_at = {}};
  free_.pop_back();
  return frame;
}

void outbox::append(byte_span message) {
  if (message.size() > largest_packed()) return append_pieces(message);
  if (append_beside(message)) return;
  open_new(wire::ipc_kind::packed);
  open_ = true;
  std::ignore = append_beside(message);  // an empty frame has room
}

void outbox::append_pieces(byte_span message) {
  open_ = false;
  const auto count = (message.size() + largest_piece() - 1) / largest_piece();
  wire::ipc_fragment cut{.first = end_,
                         .total = static_cast<std::uint32_t>(message.size()),
                         .count = static_cast<std::uint32_t>(count),
                         .piece = {}};
  for (std::size_t i = 0; i < count; ++i) {
    const auto offset = cut.offset_of(end_);
    cut.piece = message.subspan(offset, std::min(cut.piece_size(), message.size() - offset));
    auto& frame = open_new(wire::ipc_kind::fragment);
    frame.size += cut.write(payload_of(frame).subspan(frame.size));
    frame.messages = i + 1 == count ? 1 : 0;
  }
  ++messages_;
}

byte_span outbox::sealed(std::uint64_t sequence, wire::ipc_header header) {
  auto& frame = (*this)[sequence];
  if (!frame.is_sealed) {
    header.kind = frame.kind;
    header.sequence = sequence;
    header.message = frame.message;
    wire::seal_ipc_frame(payload_of(frame).first(frame.size), header);
    frame.is_sealed = true;
  }
  return byte_span(memory_).subspan(frame.buffer * buffer_size_,
                                    wire::ethernet_header_size + frame.size);
}

void outbox::drop_first() {
  free_.push_back((*this)[first_].buffer);
  ++first_;
  if (first_ == end_) open_ = false;
}

void outbox::rewind() {
  for (auto sequence = first_; sequence != end_; ++sequence) {
    const auto& frame = (*this)[sequence];
    (*this)[sequence] = {.kind = frame.kind,
                         .message = frame.message,
                         .messages = frame.messages,
                         .buffer = frame.buffer,
                         .size = frame.size,
                         .sent_at = {}};
  }
}

std::uint64_t outbox::drop_all() {
  std::uint64_t left = 0;
  for (; first_ != end_; drop_first()) left += (*this)[first_].messages;
  return left;
}

std::uint64_t outbox::reset() {
  const auto left = drop_all();
  first_ = 0;
  end_ = 0;
  messages_ = 0;
  return left;
}

}  // namespace strata::ipc
