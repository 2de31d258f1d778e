// A request's head in HTTP/2 as it arrives, field by field (RFC 9113 section 8.3). Independent of
// nghttp2, which has checked each field by itself.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "proto/http/http2.hpp"

namespace strata::proto {

class http2_head {
 public:
  /// What each field adds to the counted size (section 6.5.2).
  static constexpr std::size_t field_overhead = 32;

  explicit http2_head(std::size_t limit) : limit_(limit) {}

  /// Discards everything; the next field is the first of `stream`'s head.
  void begin(std::uint32_t stream);
  /// Adds a field. Fields over the limit are counted, but not kept.
  void add(std::string_view name, std::string_view value);
  /// The counted size of all added fields.
  [[nodiscard]] std::size_t size() const { return size_; }
  /// Returns the request, or its rejection.
  [[nodiscard]] http2_listener::arrival take();

 private:
  void add_pseudo(std::string_view name, std::string_view value);
  void add_cookie(std::string_view value);
  void refuse(int status, errc code, std::string reason);
  void set_host();

  std::size_t limit_;
  std::size_t size_ = 0;
  http2_listener::arrival made_;
  std::optional<std::string> authority_;
};

}  // namespace strata::proto
