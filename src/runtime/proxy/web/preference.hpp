// The preferred backend of an HTTP request: by the balance's criterion, and by the cookie that
// names its client's previous backends.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "http/exchange.hpp"
#include "runtime/proxy/choice/backends.hpp"

namespace strata::runtime::proxy {

/// A request without the balance's criterion uses its client's address. `exchange` outlives the
/// wish.
[[nodiscard]] wish wish_of(http::exchange& exchange, const balancing& balancing);

/// The client's previous backends, from the cookie `name`; an empty name means none.
[[nodiscard]] std::vector<std::uint64_t> marks_of(const proto::http_request& request,
                                                  std::string_view name);

struct sticky_cookie {
  std::string_view name;
  bool is_secure = false;
};
/// The cookie that tells the client its present backend, and keeps the marks of backends outside
/// `among`; empty if the client has it already.
[[nodiscard]] std::string cookie_for(const sticky_cookie& cookie, const backend& backend,
                                     const backends& among,
                                     const std::vector<std::uint64_t>& marks);

}  // namespace strata::runtime::proxy
