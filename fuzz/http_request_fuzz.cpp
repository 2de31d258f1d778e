// Any bytes, cut anywhere, give requests, "more", or one error that stays.
#include <cstdlib>

#include "proto/http/http1.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  strata::proto::http_request_parser parser({.max_header = 1024, .max_body = 4096});
  const std::size_t piece = 1 + data[0] % 64;
  auto input = std::as_bytes(std::span(data + 1, size - 1));
  while (!input.empty()) {
    const auto part = input.first(std::min(piece, input.size()));
    input = input.subspan(part.size());
    auto got = parser.feed(part);
    while (got && *got) {
      if ((*got)->body.size() > 4096) std::abort();
      got = parser.next();
    }
    (void)parser.take_continue();
    if (!got) {
      if (parser.refusal_status() < 400) std::abort();
      return 0;
    }
  }
  return 0;
}
