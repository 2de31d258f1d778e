// Which backend an HTTP request would have: by what the balance goes by, and by the cookie that
// says where its client has been.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "http/exchange.hpp"
#include "runtime/proxy/choice/backends.hpp"

namespace strata::runtime::proxy {

/// A request without what the balance goes by is its client's. `exchange` outlives the wish.
[[nodiscard]] wish wish_of(http::exchange& exchange, const balancing& balancing);

/// The backends that the client says it was at, by the cookie `name`; an empty name is none.
[[nodiscard]] std::vector<std::uint64_t> marks_of(const proto::http_request& request,
                                                  std::string_view name);

struct sticky_cookie {
  std::string_view name;
  bool is_secure = false;
};
/// What the client is to be told of where it is now, beside what its cookie says of others than
/// `among`; empty: it knows.
[[nodiscard]] std::string cookie_for(const sticky_cookie& cookie, const backend& backend,
                                     const backends& among,
                                     const std::vector<std::uint64_t>& marks);

}  // namespace strata::runtime::proxy
