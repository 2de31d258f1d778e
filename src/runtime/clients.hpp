// The operations `clients` and `disconnect`, for types that accept clients.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "loop/loop.hpp"
#include "runtime/operations.hpp"

namespace strata::runtime {

/// The traffic between a client and its runtime. A message is counted once it is complete.
struct traffic {
  std::uint64_t messages_in = 0;
  std::uint64_t bytes_in = 0;
  std::uint64_t messages_out = 0;
  std::uint64_t bytes_out = 0;
};

/// The state of a client at one moment.
struct client_report {
  std::uint64_t id = 0;
  std::string address;           ///< empty: it has none
  std::string_view protocol;     ///< name of its URL scheme; refers to a literal
  std::string tls_subject;       ///< of the certificate that it has shown; empty: none
  loop::time_point since;        ///< when it connected
  loop::time_point last_active;  ///< when it last sent something
  traffic passed;
  std::uint64_t waiting = 0;  ///< bytes queued for it, or of an incomplete message
  std::vector<std::string> groups;
  std::string name = {};                  ///< chosen by the client; empty: none
  std::optional<unsigned> database = {};  ///< selected by the client; unset: it has none
  std::string user = {};                  ///< as which the client acts; empty: it has none
};

/// The answer of the operation `clients`, sorted by id. Yields to the loop after some of them.
[[nodiscard]] loop::task<nlohmann::json> json_of(loop::loop& loop,
                                                 std::vector<client_report> clients);

[[nodiscard]] operation_row clients_operation(decltype(operation_row::run) run);
/// The operation's call has the parameter `client`.
[[nodiscard]] operation_row disconnect_operation(decltype(operation_row::run) run);

/// The error of `disconnect` for a client that the runtime `name` does not have: not_found.
[[nodiscard]] error no_such_client(std::uint64_t id, const std::string& name);

}  // namespace strata::runtime
