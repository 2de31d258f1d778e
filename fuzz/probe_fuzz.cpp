// No payload reads out of bounds, and what is read as a probe is written the same again.
#include <algorithm>
#include <array>
#include <cstdlib>

#include "strata/wire/probe.hpp"

using strata::wire::probe;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto input = std::as_bytes(std::span(data, size));
  const auto read = probe::parse(input);
  if (!read) return 0;
  std::array<std::byte, probe::size> again{};
  read->write(again);
  if (!std::ranges::equal(again, input.first<probe::size>())) std::abort();
  return 0;
}
