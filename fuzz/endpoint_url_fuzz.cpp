// What is accepted is written back in a form that is accepted and means the same.
#include <cstdlib>

#include "net/endpoint_url.hpp"
#include "strata/base/bytes.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto text = strata::as_text(std::as_bytes(std::span(data, size)));
  const auto url = strata::net::parse_endpoint(text);
  if (!url) return 0;
  const auto again = strata::net::parse_endpoint(url->text());
  if (!again || *again != *url) std::abort();
  return 0;
}
