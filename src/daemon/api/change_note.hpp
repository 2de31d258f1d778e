// A change of a runtime as the log tells it: which, and asked by which client.
#pragma once

#include <string>
#include <string_view>

#include "daemon/api/route_row.hpp"

namespace strata::net {
class stream;
}

namespace strata::daemon {

/// `uid 1000, pid 4242` of a client of the Unix socket; else its address, and the subject of its
/// certificate.
[[nodiscard]] std::string visitor_text(const net::stream& connection);

/// `stop 'web', asked by VISITOR: done`. `name` is the path's, or empty: then the body has it.
[[nodiscard]] std::string change_note(const route_row& row, const std::string& name,
                                      const std::string& body, std::string_view visitor,
                                      bool is_done);

}  // namespace strata::daemon
