// Framing: the division of a byte stream into messages, and back.
//
// Three kinds: `line` (messages end with LF and cannot contain one), `length` (four bytes,
// big-endian, then the bytes) and `raw` (every read is a message). Sans-I/O and total: any input
// gives messages, "not yet", or one error, and never more than `max_message` bytes are kept.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "strata/base/bytes.hpp"
#include "strata/base/result.hpp"

namespace strata::proto {

enum class framing : std::uint8_t { line, length, raw };
inline constexpr std::size_t framing_count = 3;

/// Parses "line", "length" or "raw"; anything else is `line`.
[[nodiscard]] framing framing_of(std::string_view name);

/// The bytes around a message on the wire.
struct envelope {
  std::array<char, 10> before{};
  std::size_t before_size = 0;
  std::string_view after;

  [[nodiscard]] byte_span head() const { return as_bytes({before.data(), before_size}); }
};
[[nodiscard]] envelope envelope_for(framing framing, std::size_t message_size);

/// Splits incoming bytes into messages. One per connection.
class frame_reader {
 public:
  frame_reader(framing framing, std::size_t max_message)
      : how_(framing), max_message_(max_message) {}

  /// Calls `sink(byte_span message)` for each complete message; the span is valid during the call.
  /// Errors: limit_exceeded if a message is longer than `max_message`; the rest of the stream
  /// cannot be parsed after that.
  template <class Sink>
  [[nodiscard]] result<void> feed(byte_span input, Sink&& sink) {
    switch (how_) {
      case framing::line: return feed_lines(input, sink);
      case framing::length: return feed_lengths(input, sink);
      case framing::raw: return feed_raw(input, sink);
    }
    return {};
  }

  /// The bytes of the message that is incomplete.
  [[nodiscard]] byte_span unfinished() const { return as_bytes(partial_); }
  void set_max_message(std::size_t size) { max_message_ = size; }

 private:
  template <class Sink>
  result<void> feed_lines(byte_span input, Sink& sink) {
    while (!input.empty()) {
      const void* found = std::memchr(input.data(), '\n', input.size());
      if (found == nullptr) return keep(input);
      const auto size =
          static_cast<std::size_t>(static_cast<const std::byte*>(found) - input.data());
      if (partial_.size() + size > max_message_) return too_long();
      if (partial_.empty()) {
        sink(input.first(size));
      } else {
        partial_.append(as_text(input.first(size)));
        finish_partial(sink);
      }
      input = input.subspan(size + 1);
    }
    return {};
  }

  template <class Sink>
  result<void> feed_lengths(byte_span input, Sink& sink) {
    while (!input.empty()) {
      if (partial_.size() < header_size) {
        const auto part = std::min(header_size - partial_.size(), input.size());
        partial_.append(as_text(input.first(part)));
        input = input.subspan(part);
        if (partial_.size() < header_size) return {};
        if (announced() > max_message_) return too_long();
      }
      const auto missing = header_size + announced() - partial_.size();
      const auto part = std::min(missing, input.size());
      partial_.append(as_text(input.first(part)));
      input = input.subspan(part);
      if (part < missing) return {};
      const std::string whole = std::exchange(partial_, {});
      sink(as_bytes(whole).subspan(header_size));
    }
    return {};
  }

  template <class Sink>
  result<void> feed_raw(byte_span input, Sink& sink) {
    while (!input.empty()) {
      const auto part = std::min(max_message_, input.size());
      sink(input.first(part));
      input = input.subspan(part);
    }
    return {};
  }

  template <class Sink>
  void finish_partial(Sink& sink) {
    const std::string whole = std::exchange(partial_, {});
    sink(as_bytes(whole));
  }

  static constexpr std::size_t header_size = 4;

  [[nodiscard]] result<void> keep(byte_span input);
  [[nodiscard]] result<void> too_long() const;
  [[nodiscard]] std::size_t announced() const;

  framing how_;
  std::size_t max_message_;
  std::string partial_;
};

}  // namespace strata::proto
