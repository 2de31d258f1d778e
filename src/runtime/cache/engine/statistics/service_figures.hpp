// INFO's figures about the server of a cache's clients: the loop, the sockets and the process.
#pragma once

#include <cstdint>
#include <string_view>

namespace strata::runtime::cache {

struct service_figures {
  std::string_view backend;  ///< the loop's
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;
  std::uint64_t commands_1s = 0;     ///< in the last whole second
  std::uint64_t resident_bytes = 0;  ///< of the whole process, as are the following:
  double user_s = 0;
  double system_s = 0;
};

}  // namespace strata::runtime::cache
