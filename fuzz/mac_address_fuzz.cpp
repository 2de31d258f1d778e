// What is accepted is written back in a form that means the same.
#include <cstdlib>

#include "strata/base/bytes.hpp"
#include "strata/base/mac_address.hpp"
#include "strata/wire/ipv4.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto text = strata::as_text(std::as_bytes(std::span(data, size)));
  if (const auto mac = strata::mac_address::from_text(text)) {
    if (strata::mac_address::from_text(mac->text()) != *mac) std::abort();
  }
  if (const auto address = strata::wire::ipv4_address::from_text(text)) {
    if (strata::wire::ipv4_address::from_text(address->text()) != *address) std::abort();
  }
  return 0;
}
