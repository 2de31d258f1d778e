// The operations `clients` and `disconnect`, for types that others connect to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "loop/loop.hpp"
#include "net/stream.hpp"
#include "runtime/operations.hpp"

namespace strata::runtime {

/// What has passed between a client and its runtime. A message is counted where it is whole.
struct traffic {
  std::uint64_t messages_in = 0;
  std::uint64_t bytes_in = 0;
  std::uint64_t messages_out = 0;
  std::uint64_t bytes_out = 0;
};

/// A client at one moment.
struct client_report {
  std::uint64_t id = 0;
  std::string address;           ///< empty: it has none
  std::string_view protocol;     ///< as a URL's scheme names it; of a literal
  std::string tls_subject;       ///< of the certificate that it has shown; empty: none
  loop::time_point since;        ///< when it came
  loop::time_point last_active;  ///< when it last sent something
  traffic passed;
  std::uint64_t waiting = 0;  ///< bytes that are held for it, or of a message that is not whole
  std::vector<std::string> groups;
  std::string name = {};                  ///< that it has given itself; empty: none
  std::optional<unsigned> database = {};  ///< that it works on; unset: it has none
};

/// As the operation `clients` answers, sorted by id. The loop serves others between some of them.
[[nodiscard]] loop::task<nlohmann::json> json_of(loop::loop& loop,
                                                 std::vector<client_report> clients);

/// The protocol of a client that sends bytes as they are: `tcp`, `tls` or `unix`.
[[nodiscard]] std::string_view protocol_of(const net::stream& stream);

[[nodiscard]] operation_row clients_operation(decltype(operation_row::run) run);
/// Its call has the parameter `client`.
[[nodiscard]] operation_row disconnect_operation(decltype(operation_row::run) run);

/// `disconnect` of a client that the runtime `name` does not have: not_found.
[[nodiscard]] error no_such_client(std::uint64_t id, const std::string& name);

}  // namespace strata::runtime
