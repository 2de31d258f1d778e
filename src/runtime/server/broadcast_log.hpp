// Messages on their way to many members, each written once into shared memory.
//
// Messages are appended to a chunk; those appended since the last `take()` are a batch, which is
// contiguous and so becomes one slice in each receiver's outbox. They are written in one encoding;
// other encodings are made from it when the first receiver asks for one.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "loop/slice.hpp"
#include "runtime/server/encoding.hpp"
#include "runtime/server/message.hpp"

namespace strata::runtime::server {

class batch {
 public:
  /// Where a message's own bytes are in the batch's chunk.
  struct range {
    std::uint32_t offset;
    std::uint32_t size;
    message_kind kind;
  };

  [[nodiscard]] std::size_t count() const { return messages_.size(); }
  /// All messages, in the form that wires of that encoding carry. Encoded once for each encoding,
  /// however many receivers there are.
  [[nodiscard]] const loop::slice& as(encoding encoding) const;
  /// Each message's own bytes, for datagrams.
  [[nodiscard]] std::span<const range> messages() const { return messages_; }
  [[nodiscard]] loop::slice part(range range) const {
    return framed_.part(range.offset, range.size);
  }

 private:
  friend class broadcast_log;
  [[nodiscard]] message at(const range& range) const {
    return {framed_.bytes().subspan(range.offset, range.size), range.kind};
  }

  encoding how_ = encoding::line;
  loop::slice framed_;  // in the encoding `how_`
  std::vector<range> messages_;
  mutable std::array<loop::slice, encoding_count> others_;  // empty: not requested yet
};

class broadcast_log {
 public:
  /// `encoding` must have an envelope.
  explicit broadcast_log(encoding encoding) : usual_(encoding), how_(encoding) {}
  broadcast_log(const broadcast_log&) = delete;
  broadcast_log& operator=(const broadcast_log&) = delete;
  ~broadcast_log() {
    if (current_ != nullptr) current_->release();
  }

  /// Sets the encoding of the next batch; the present one is empty.
  void write_as(encoding encoding) {
    usual_ = has_envelope(encoding) ? encoding : encoding::websocket;
  }
  /// Whether the message does not fit behind the present batch: take that first.
  [[nodiscard]] bool must_take_before(const message& message) const {
    if (empty()) return false;
    return current_->room() < framed_size(message) ||
           (how_ == encoding::line && !is_line(message.bytes));
  }
  void append(const message& message) {
    if (empty()) begin(message);
    const auto envelope = envelope_of(how_, message);
    current_->append(envelope.head());
    const auto size = static_cast<std::uint32_t>(message.bytes.size());
    ranges_.push_back({current_->size() - start_, size, message.kind});
    current_->append(message.bytes);
    current_->append(as_bytes(envelope.after));
  }
  [[nodiscard]] bool empty() const { return ranges_.empty(); }

  /// Returns the batch so far. Valid until `recycle`, which takes its storage back.
  [[nodiscard]] batch take() {
    batch taken;
    taken.how_ = how_;
    taken.framed_ = loop::slice(*current_, start_, current_->size() - start_);
    taken.messages_.swap(ranges_);
    start_ = current_->size();
    return taken;
  }
  void recycle(batch&& batch) {
    ranges_ = std::move(batch.messages_);
    ranges_.clear();
    batch.framed_ = {};
  }

 private:
  static constexpr std::uint32_t chunk_size = 64U << 10U;
  static constexpr std::uint32_t most_envelope = 12;

  static std::uint32_t framed_size(const message& message) {
    return static_cast<std::uint32_t>(message.bytes.size()) + most_envelope;
  }
  // Starts a batch with room for its first message. A message that is no line is kept unchanged for
  // receivers that can have it so.
  void begin(const message& first) {
    const auto size = framed_size(first);
    how_ = usual_ == encoding::line && !is_line(first.bytes) ? encoding::raw : usual_;
    if (current_ != nullptr && current_->unshared()) current_->clear();
    if (current_ == nullptr || current_->room() < size) {
      if (current_ != nullptr) current_->release();
      current_ = loop::chunk::make(size > chunk_size ? size : chunk_size);
    }
    start_ = current_->size();
  }

  encoding usual_;
  encoding how_;  // encoding of the present batch
  loop::chunk* current_ = nullptr;
  std::uint32_t start_ = 0;
  std::vector<batch::range> ranges_;
};

}  // namespace strata::runtime::server
