// A request's head of HTTP/2 as it comes, field by field (RFC 9113 section 8.3). Without nghttp2,
// which has seen to it that each field by itself is in order.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "proto/http/http2.hpp"

namespace strata::proto {

class http2_head {
 public:
  /// How a field's size counts (section 6.5.2).
  static constexpr std::size_t field_overhead = 32;

  explicit http2_head(std::size_t limit) : limit_(limit) {}

  /// Forgets all; the next field is the first of that stream's head.
  void begin(std::uint32_t stream);
  /// Fields over the limit are counted, and not kept.
  void add(std::string_view name, std::string_view value);
  /// All that were added, as they count.
  [[nodiscard]] std::size_t size() const { return size_; }
  /// The request, or what it is to be answered instead.
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
