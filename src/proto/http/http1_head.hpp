// RFC 9112's rules for the head of a request that Boost.Beast does not check: if two programs can
// read one head in two ways, requests can be smuggled.
#pragma once

#include <optional>
#include <string_view>

namespace strata::proto {

struct head_refusal {
  int status = 0;  ///< 400, 501 or 505
  std::string_view reason;
};

/// Checks a whole head: lines that end in CR LF, the last of them empty. Returns nullopt if a
/// server may process it.
[[nodiscard]] std::optional<head_refusal> check_request_head(std::string_view head);

}  // namespace strata::proto
