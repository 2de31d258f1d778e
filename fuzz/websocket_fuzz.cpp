// However a stream of frames is cut, the same events come out and the same refusal, on both sides,
// plain and compressed.
#include <cstdlib>
#include <string>
#include <vector>

#include "proto/websocket/websocket.hpp"

namespace {

using strata::proto::websocket_deflate;
using strata::proto::websocket_event;
using strata::proto::websocket_role;

constexpr std::size_t limit = 4096;
/// Of one input: fewer control frames than one `feed` may bring.
constexpr std::size_t max_input = 2 * strata::proto::websocket_reader::max_controls;

struct outcome {
  std::vector<std::string> events;  // each with its kind and close code
  int refusal = 0;

  friend bool operator==(const outcome&, const outcome&) = default;
};

outcome read_in_pieces(unsigned shape, strata::byte_span input, std::size_t piece) {
  const auto side = shape % 2 == 0 ? websocket_role::server : websocket_role::client;
  const bool forgets = shape / 2 % 3 == 1;
  std::optional<websocket_deflate> agreed = websocket_deflate{forgets, forgets};
  if (shape / 2 % 3 == 2) agreed.reset();
  strata::proto::websocket_reader reader(side, limit, agreed);
  outcome got;
  const auto sink = [&](const websocket_event& event) {
    if (event.payload.size() > limit) std::abort();
    got.events.push_back(std::to_string(static_cast<int>(event.what)) + ' ' +
                         std::to_string(static_cast<int>(event.close_code)) + ' ' +
                         std::string(strata::as_text(event.payload)));
  };
  while (!input.empty()) {
    const auto size = std::min(piece, input.size());
    std::vector<std::byte> part(input.begin(), input.begin() + static_cast<std::ptrdiff_t>(size));
    input = input.subspan(size);
    const auto read = size % 2 == 0 ? reader.feed(part, sink) : reader.feed_in_place(part, sink);
    if (reader.held() > 2 * limit) std::abort();
    if (read) continue;
    got.refusal = static_cast<int>(reader.refusal_code());
    if (got.refusal < 1002) std::abort();
    break;
  }
  return got;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2 || size > max_input) return 0;
  const auto input = std::as_bytes(std::span(data + 2, size - 2));
  const auto whole = read_in_pieces(data[0], input, input.size() + 1);
  for (const std::size_t piece : {1, 1 + data[1] % 64}) {
    if (read_in_pieces(data[0], input, piece) != whole) std::abort();
  }
  return 0;
}
