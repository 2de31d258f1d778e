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
  std::uint64_t reads = 0;           ///< from clients
  std::uint64_t threaded_reads = 0;  ///< of them, those of other loops
  std::uint64_t writes = 0;          ///< to clients
  std::uint64_t threaded_writes = 0;
  double user_s = 0;  ///< of the loop's thread
  double system_s = 0;
  // Of the whole process:
  std::uint64_t resident_bytes = 0;
  std::uint64_t allocated_bytes = 0;
  std::uint64_t active_bytes = 0;     ///< of pages with allocated bytes
  std::uint64_t allocator_bytes = 0;  ///< resident
  double process_user_s = 0;
  double process_system_s = 0;
};

}  // namespace strata::runtime::cache
