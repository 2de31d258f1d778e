// What RFC 9112 lets the head of a request be, beyond what Boost.Beast asks of it: where two
// programs could read one head in two ways, requests are smuggled.
#pragma once

#include <optional>
#include <string_view>

namespace strata::proto {

struct head_refusal {
  int status = 0;  ///< 400, 501 or 505
  std::string_view reason;
};

/// Looks at a whole head: lines that end in CR LF, the last of them empty. Nullopt when a server
/// may go on with it.
[[nodiscard]] std::optional<head_refusal> check_request_head(std::string_view head);

}  // namespace strata::proto
