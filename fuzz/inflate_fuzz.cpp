// Any bytes inflate to the same text or failure however they are cut, within the limit; and what
// has come out comes back when it is deflated.
#include <cstdlib>
#include <optional>
#include <string>

#include "proto/deflate.hpp"

namespace {

constexpr std::size_t limit = 100'000;

struct outcome {
  std::string text;
  std::optional<strata::errc> failed;

  friend bool operator==(const outcome&, const outcome&) = default;
};

outcome inflate_in_pieces(strata::byte_span input, std::size_t piece) {
  strata::proto::inflater inflater;
  outcome got;
  strata::result<void> fed;
  while (!input.empty() && fed) {
    const auto part = input.first(std::min(piece, input.size()));
    input = input.subspan(part.size());
    fed = inflater.feed(part, got.text, limit);
  }
  if (fed) fed = inflater.finish(got.text, limit);
  if (!fed) got.failed = fed.error().code;
  if (got.text.size() > limit || got.text.capacity() > limit + (16U << 10U)) std::abort();
  return got;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const auto input = std::as_bytes(std::span(data + 2, size - 2));
  const auto whole = inflate_in_pieces(input, input.size() + 1);
  if (inflate_in_pieces(input, 1 + data[0] % 64) != whole) std::abort();
  strata::proto::deflater deflater({.window_bits = 9 + data[1] % 7, .memory_level = 1});
  std::string packed;
  deflater.compress(strata::as_bytes(whole.text), packed);
  const auto again = inflate_in_pieces(strata::as_bytes(packed), 1 + data[0] % 64);
  if (again.failed || again.text != whole.text) std::abort();
  return 0;
}
