#include "serve/detection.hpp"

#include <utility>

namespace strata::serve {

namespace {

// No row needs more bytes to decide.
constexpr std::size_t longest_start = 4096;

struct finding {
  const protocol_row* row = nullptr;
  bool is_sure = true;
};

finding look(std::span<const protocol_row> rows, byte_span first) {
  for (const auto& row : rows) {
    const auto said = row.match(first);
    if (said == verdict::yes) return {&row, true};
    if (said == verdict::more && first.size() < longest_start) return {nullptr, false};
  }
  return {};
}

}  // namespace

// Matches a handshake record of version 3.0 to 3.4 whose first message is a ClientHello.
verdict looks_like_tls(byte_span first) {
  constexpr std::size_t message_at = 5;
  const auto byte = [&](std::size_t offset) { return std::to_integer<unsigned>(first[offset]); };
  if (!first.empty() && byte(0) != 0x16) return verdict::no;
  if (first.size() > 1 && byte(1) != 3) return verdict::no;
  if (first.size() > 2 && byte(2) > 4) return verdict::no;
  if (first.size() > 4 && (byte(3) << 8U | byte(4)) < 4) return verdict::no;
  if (first.size() <= message_at) return verdict::more;
  return byte(message_at) == 1 ? verdict::yes : verdict::no;
}

bool detector::take(net::stream& stream) {
  auto arrived = stream.take_ready();
  if (!arrived || arrived->empty()) return true;
  if (!seen_) {
    const auto found = look(rows_, arrived->bytes());
    if (found.is_sure) {
      row_ = found.row;
      stream.unread(std::move(*arrived));
      return true;
    }
  }
  if (!seen_) seen_ = std::make_unique<std::string>();
  *seen_ += as_text(arrived->bytes());
  const auto found = look(rows_, as_bytes(*seen_));
  row_ = found.row;
  return found.is_sure;
}

const protocol_row* detector::finish(net::stream& stream) {
  if (seen_) stream.unread(loop::buffer::copy_of(as_bytes(*seen_)));
  return row_;
}

loop::task<const protocol_row*> detect(net::stream& stream, std::span<const protocol_row> rows,
                                       loop::time_point limit) {
  detector detector(rows);
  for (;;) {
    const bool has_come = co_await stream.ready(limit);
    if (!has_come || detector.take(stream)) break;
  }
  co_return detector.finish(stream);
}

}  // namespace strata::serve
