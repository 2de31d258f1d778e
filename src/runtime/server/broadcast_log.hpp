// Messages on their way to many, each written once into shared memory.
//
// Messages are appended to a chunk; those appended since the last `take()` are a batch, which
// stands in one piece and so becomes one slice in each receiver's outbox. They are written in one
// encoding; what a receiver of another wants is made of that when the first asks for it.
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
  /// Where in the batch's chunk a message's own bytes are.
  struct range {
    std::uint32_t offset;
    std::uint32_t size;
    message_kind kind;
  };

  [[nodiscard]] std::size_t count() const { return messages_.size(); }
  /// All messages, each as wires of that encoding carry it. Written once for each encoding,
  /// however many hear it.
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
  loop::slice framed_;  // as `how_` has it
  std::vector<range> messages_;
  mutable std::array<loop::slice, encoding_count> others_;  // empty: not asked for yet
};

class broadcast_log {
 public:
  /// `encoding` has an envelope.
  explicit broadcast_log(encoding encoding) : usual_(encoding), how_(encoding) {}
  broadcast_log(const broadcast_log&) = delete;
  broadcast_log& operator=(const broadcast_log&) = delete;
  ~broadcast_log() {
    if (current_ != nullptr) current_->release();
  }

  /// How the next batch is written: the present one is empty.
  void write_as(encoding encoding) {
    usual_ = has_envelope(encoding) ? encoding : encoding::websocket;
  }
  /// The message would not fit behind the present batch: take that first.
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

  /// The batch so far. Valid until `recycle`, which takes its storage back.
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
  // Starts a batch at a place with room for its first message. What is no line is kept as it is
  // for those who can have it so.
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
  encoding how_;  // of the present batch
  loop::chunk* current_ = nullptr;
  std::uint32_t start_ = 0;
  std::vector<batch::range> ranges_;
};

}  // namespace strata::runtime::server
