// Whatever a stranger sends as a greeting or as data is read within bounds, and what is taken is
// written the same again.
#include <algorithm>
#include <cstdlib>
#include <vector>

#include "strata/wire/hybrid_handshake.hpp"

using namespace strata::wire;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto input = std::as_bytes(std::span(data, size));
  if (size >= hybrid_greeting::size) {
    const auto bytes = input.first<hybrid_greeting::size>();
    const auto greeting = hybrid_greeting::parse(bytes);
    if (greeting && !std::ranges::equal(greeting->build(), bytes)) std::abort();
    if (!greeting && strata::describe(greeting.error()).empty()) std::abort();
  }
  if (const auto message = hybrid_data::parse(input)) {
    std::vector<std::byte> again(hybrid_data::head_size + message->message.size());
    if (message->write(again) != again.size()) std::abort();
    if (!std::ranges::equal(again, input.first(again.size()))) std::abort();
  }
  return 0;
}
