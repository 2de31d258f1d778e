// Any header gives extensions or "malformed"; what a server answers fits what it was offered, and a
// client takes it.
#include <cstdlib>

#include "proto/websocket/websocket_extensions.hpp"

using strata::proto::websocket_deflate;
using strata::proto::websocket_role;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const auto header = strata::as_text(std::as_bytes(std::span(data + 2, size - 2)));
  const auto bits = [](unsigned choice) { return static_cast<std::uint8_t>(8 + choice % 8); };
  const websocket_deflate wanted{(data[0] & 1U) != 0, (data[0] & 2U) != 0, bits(data[0] >> 2U),
                                 bits(data[1])};
  const auto read = strata::proto::read_websocket_extensions(header);
  const auto answer = strata::proto::accept_deflate(header, wanted);
  if (read.has_value() != answer.has_value()) std::abort();
  if (answer && *answer) {
    const auto& agreed = (*answer)->agreed;
    if (!agreed.can_compress(websocket_role::server)) std::abort();
    const auto taken = strata::proto::agree_on_deflate((*answer)->header);
    if (!taken || !*taken || **taken != agreed) std::abort();
  }
  const auto agreed = strata::proto::agree_on_deflate(header, wanted);
  if (!read && agreed) std::abort();
  if (agreed && *agreed &&
      ((*agreed)->server_max_window_bits > wanted.server_max_window_bits ||
       (*agreed)->client_max_window_bits > wanted.client_max_window_bits)) {
    std::abort();
  }
  return 0;
}
