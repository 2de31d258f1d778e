// A hostile server's bytes, cut anywhere, never harm the client.
#include "proto/http/http1.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  strata::proto::http_response_parser parser(1024);
  const std::size_t piece = 1 + data[0] % 64;
  auto input = std::as_bytes(std::span(data + 1, size - 1));
  while (!input.empty()) {
    const auto part = input.first(std::min(piece, input.size()));
    input = input.subspan(part.size());
    if (!parser.feed(part)) return 0;
    (void)parser.take_body();
  }
  (void)parser.finish();
  return 0;
}
