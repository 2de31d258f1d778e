// Decoding takes only what encoding gives, and gives back what was encoded.
#include <cstdlib>

#include "text/base64.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto text = strata::as_text(bytes);
  const auto decoded = strata::text::base64_decode(text);
  if (decoded && strata::text::base64_encode(strata::as_bytes(*decoded)) != text) std::abort();
  if (strata::text::base64_decode(strata::text::base64_encode(bytes)) != text) std::abort();
  return 0;
}
