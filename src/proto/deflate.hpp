// Raw DEFLATE (RFC 1951) as in WebSocket messages (RFC 7692 section 7.2), by zlib.
//
// Each message ends with a flush to a byte boundary, whose last four bytes, 00 00 ff ff, are not
// sent. A window that continues from message to message is "context takeover"; `restart` begins a
// new window. One thread at a time. Errors are values; nothing throws except when out of memory.
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

/// The least window for compressing: zlib's deflate has no window of 256 bytes for raw streams (its
/// manual, at deflateInit2).
inline constexpr int min_deflater_bits = 9;

/// Memory: 2^(window_bits + 2) + 2^(memory_level + 9) bytes and 6 KiB: 256 KiB + 6 KiB by default,
/// 9 KiB for 9 bits at level 1.
class deflater {
 public:
  struct settings {
    int window_bits = max_window_bits;  ///< min_deflater_bits to max_window_bits
    int memory_level = 8;               ///< 1 to 9
    int level = 6;                      ///< 1, fast, to 9, small
  };

  explicit deflater(const settings& settings);

  /// Appends the compressed message to `output`.
  void compress(byte_span message, std::string& output);
  /// Forgets all messages: the next one can be inflated without them.
  void restart();

 private:
  struct closer {
    void operator()(z_stream_s* stream) const;
  };

  std::unique_ptr<z_stream_s, closer> stream_;
};

/// Memory: 7 KiB, plus 2^window_bits bytes from its first output on; at most 39 KiB.
class inflater {
 public:
  /// The window must be at least as large as the sender's. Whether a reference beyond the window is
  /// malformed or resolved depends on how the message is split: zlib also looks in its output.
  explicit inflater(int window_bits = max_window_bits);

  /// Appends the inflated `piece` of a message to `output`, however the message is split. Errors:
  /// malformed, and limit_exceeded if `output` would exceed `limit`; `output` then holds the valid
  /// bytes before the error, up to the limit, and the inflater must not be used any more.
  [[nodiscard]] result<void> feed(byte_span piece, std::string& output, std::size_t limit);
  /// Ends the message. Errors: as of `feed`; a message that ends inside a block is malformed.
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
  bool has_ended_ = false;  // the last block was marked as final
};

}  // namespace strata::proto
