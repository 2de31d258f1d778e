// The gzip format (RFC 1952), by zlib: HTTP's content coding gzip.
//
// One thread at a time. Nothing throws except when out of memory.
#pragma once

#include <memory>
#include <string>

#include "strata/base/bytes.hpp"

struct z_stream_s;

namespace strata::proto {

/// Memory: 262 KiB.
class gzip_writer {
 public:
  gzip_writer();

  /// Compresses `piece` and appends the output available so far to `output`.
  void feed(byte_span piece, std::string& output);
  /// Appends the rest; nothing may be fed afterwards.
  void finish(std::string& output);

 private:
  struct closer {
    void operator()(z_stream_s* stream) const;
  };

  void step(byte_span piece, int flush, std::string& output);

  std::unique_ptr<z_stream_s, closer> stream_;
};

/// Compresses all bytes at once.
[[nodiscard]] std::string gzip(byte_span bytes);

}  // namespace strata::proto
