// Any bytes are a hello, the begin of one or an error; and what more bytes are needed for is no
// error with fewer.
#include <cstdlib>

#include "proto/tls/client_hello.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto said = std::as_bytes(std::span(data, size));
  const auto read = strata::proto::read_server_name(said);
  if (!read) return 0;
  for (std::size_t less = 0; less < size && less < 64; ++less) {
    const auto part = strata::proto::read_server_name(said.first(less));
    if (!part) std::abort();
    if (*part && (!*read || **part != **read)) std::abort();
  }
  return 0;
}
