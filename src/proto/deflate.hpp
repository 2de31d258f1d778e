// Raw DEFLATE (RFC 1951) as WebSocket messages have it (RFC 7692 section 7.2), by zlib.
//
// Each message ends at a flush to a byte's end, whose last four bytes, 00 00 ff ff, are not sent. A
// window that goes on from message to message is "context takeover"; `restart` begins a new one.
// One thread at a time. Errors are values, and nothing throws but what has no memory left.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "strata/base/bytes.hpp"
#include "strata/base/result.hpp"

struct z_stream_s;

namespace strata::proto {

inline constexpr int min_window_bits = 8;
inline constexpr int max_window_bits = 15;

/// zlib's deflate has no window of 256 bytes for raw streams (its manual, at deflateInit2).
inline constexpr int min_deflater_bits = 9;

/// Memory: 2^(window_bits + 2) + 2^(memory_level + 9) bytes and 6 KiB: 256 KiB + 6 KiB by default,
/// 9 KiB for 9 bits at level 1.
class deflater {
 public:
  struct settings {
    int window_bits = max_window_bits;  ///< min_deflater_bits to max_window_bits
    int memory_level = 8;               ///< 1 to 9
    int level = 6;                      ///< 1, quick, to 9, small
  };

  explicit deflater(const settings& settings);

  /// Appends the message, compressed, to `output`.
  void compress(byte_span message, std::string& output);
  /// Forgets all messages: the next can be read without them.
  void restart();

 private:
  struct closer {
    void operator()(z_stream_s* stream) const;
  };

  std::unique_ptr<z_stream_s, closer> stream_;
};

/// Memory: 7 KiB, and 2^window_bits bytes from its first output on: 39 KiB at most.
class inflater {
 public:
  /// A window as large as the sender's, or larger. Whether what reaches beyond it is malformed or
  /// still found depends on how the message is cut: zlib looks into its output too.
  explicit inflater(int window_bits = max_window_bits);

  /// Appends what `piece` of a message holds to `output`, however the message is cut. Errors:
  /// malformed, and limit_exceeded when `output` would get longer than `limit`; what was right
  /// before, up to the limit, is in `output` then, and the inflater is of no use any more.
  [[nodiscard]] result<void> feed(byte_span piece, std::string& output, std::size_t limit);
  /// Says that the message ends here. Errors: as of `feed`; a message that ends inside a block is
  /// malformed.
  [[nodiscard]] result<void> finish(std::string& output, std::size_t limit);
  /// Forgets all messages.
  void restart();

 private:
  struct closer {
    void operator()(z_stream_s* stream) const;
  };

  [[nodiscard]] result<void> inflate_input(std::string& output, std::size_t limit);
  [[nodiscard]] bool is_between_blocks() const;

  std::unique_ptr<z_stream_s, closer> stream_;
  bool has_ended_ = false;  // the last block said that it is the last
};

}  // namespace strata::proto
