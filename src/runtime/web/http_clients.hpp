// The HTTP connections of a runtime, as its clients.
#pragma once

#include <cstdint>
#include <vector>

#include "http/served_connection.hpp"
#include "runtime/clients.hpp"

namespace strata::runtime {

/// Adds each connection, as the operation `clients` shows it. Requests and answers count as
/// messages.
void add_reports(const http::served_connection::list& connections,
                 std::vector<client_report>& reports);

/// Ends the connection with this id. Returns false if there is none.
bool disconnect_client(http::served_connection::list& connections, std::uint64_t id);

}  // namespace strata::runtime
