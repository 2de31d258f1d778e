// The log's note of a change to a runtime: which change, and which client asked for it.
#pragma once

#include <string>
#include <string_view>

#include "daemon/api/route_row.hpp"

namespace strata::net {
class stream;
}

namespace strata::daemon {

/// `uid 1000, pid 4242` for a client of the Unix socket; otherwise its address and the subject of
/// its certificate.
[[nodiscard]] std::string caller_text(const net::stream& connection);

/// `stop 'web', asked by VISITOR: done`. `name` is the one in the path; if empty, the body has it.
[[nodiscard]] std::string change_note(const route_row& row, const std::string& name,
                                      const std::string& body, std::string_view caller,
                                      bool is_done);

}  // namespace strata::daemon
