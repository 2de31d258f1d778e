// The connections of HTTP that a runtime serves, as its clients.
#pragma once

#include <cstdint>
#include <vector>

#include "http/served_connection.hpp"
#include "runtime/clients.hpp"

namespace strata::runtime {

/// Adds what the operation `clients` shows of each connection. A message is a request or an answer.
void add_reports(const http::served_connection::list& connections,
                 std::vector<client_report>& reports);

/// Ends the connection that has this id. False if there is none.
bool disconnect_client(http::served_connection::list& connections, std::uint64_t id);

}  // namespace strata::runtime
