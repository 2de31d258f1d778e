// However a stream is cut into reads, the same messages come out, within the limit.
#include <cstdlib>
#include <string>
#include <vector>

#include "proto/framing.hpp"

namespace {

struct outcome {
  std::vector<std::string> messages;
  bool failed = false;
};

outcome read_in_pieces(strata::proto::framing how, strata::byte_span input, std::size_t piece) {
  constexpr std::size_t limit = 64;
  strata::proto::frame_reader reader(how, limit);
  outcome got;
  while (!input.empty() && !got.failed) {
    const auto part = input.first(std::min(piece, input.size()));
    input = input.subspan(part.size());
    got.failed = !reader.feed(part, [&](strata::byte_span message) {
      if (message.size() > limit) std::abort();
      got.messages.emplace_back(strata::as_text(message));
    });
    if (reader.unfinished().size() > limit + 4) std::abort();
  }
  return got;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  using strata::proto::framing;
  const auto how = data[0] % 2 == 0 ? framing::line : framing::length;
  const std::size_t piece = 1 + data[1] % 32;
  const auto input = std::as_bytes(std::span(data + 2, size - 2));
  const auto whole = read_in_pieces(how, input, input.size() + 1);
  const auto pieces = read_in_pieces(how, input, piece);
  if (whole.messages != pieces.messages || whole.failed != pieces.failed) std::abort();
  (void)read_in_pieces(framing::raw, input, piece);
  return 0;
}
