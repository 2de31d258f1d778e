// No frame reads out of bounds, and what is read as a frame is written the same again.
#include <cstdlib>
#include <vector>

#include "strata/wire/ipc_frame.hpp"

using namespace strata::wire;

namespace {

void read_body(const ipc_header& header, strata::byte_span body) {
  ipc_records records(body);
  std::size_t used = 0;
  while (const auto message = records.next()) used += ipc_records::head_size + message->size();
  if (used > body.size() || records.is_malformed() != (used != body.size())) std::abort();
  if (const auto piece = ipc_fragment::parse(header.sequence, body)) {
    if (piece->offset_of(header.sequence) + piece->piece.size() > piece->total) std::abort();
    std::vector<std::byte> again(body.size());
    if (piece->write(again) != body.size()) std::abort();
  }
  if (const auto said = ipc_acknowledgement::parse(body)) {
    std::size_t arrived = 0;
    for (std::size_t i = 0; i < said->selective_count(); ++i) arrived += said->has_arrived(i);
    if (arrived > ipc_acknowledgement::max_selective) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto input = std::as_bytes(std::span(data, size));
  if (const auto frame = ipc_frame::parse(input)) read_body(frame->header(), frame->body());
  // The checksum stops nearly all: also try the bytes as a frame that has a right one.
  if (size < ipc_header_size) return 0;
  std::vector<std::byte> sound(input.begin(), input.end());
  const ipc_header header{.kind = static_cast<ipc_kind>(1 + data[1] % 7),
                          .acknowledged = (data[2] & 1U) != 0,
                          .channel = read_u64(input.subspan<8, 8>()),
                          .sender = read_u64(input.subspan<16, 8>()),
                          .receiver = read_u64(input.subspan<24, 8>()),
                          .sequence = read_u64(input.subspan<32, 8>()),
                          .message = read_u64(input.subspan<40, 8>())};
  seal_ipc_frame(sound, header);
  const auto frame = ipc_frame::parse(sound);
  if (!frame || frame->header() != header) std::abort();
  read_body(header, frame->body());
  return 0;
}
