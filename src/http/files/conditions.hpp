// Conditional requests (RFC 9110 section 13): which answer a request gets, given the client's copy.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "proto/http/http1.hpp"

namespace strata::http {

/// Distinguishes one state of a resource from another.
struct validators {
  std::string_view etag;  ///< strong, with its quotes
  std::int64_t modified_s = 0;
};

enum class judgement : std::uint8_t {
  go_on,
  not_modified,  ///< 304
  failed,        ///< 412
};

/// Judges a GET or HEAD, in the order of precedence of section 13.2.2.
[[nodiscard]] judgement judge(const proto::http_fields& headers, const validators& validators);

/// Whether If-Range, if present, allows sending a range. A date counts only once its second is
/// over: until then the file could change within it.
[[nodiscard]] bool allows_range(const proto::http_fields& headers, const validators& validators,
                                std::int64_t now_s);

}  // namespace strata::http
