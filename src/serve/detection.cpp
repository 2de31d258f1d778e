#include "serve/detection.hpp"

#include <string>

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

loop::task<const protocol_row*> detect(net::stream& stream, std::span<const protocol_row> rows,
                                       loop::time_point limit) {
  std::string seen;
  for (;;) {
    auto got = co_await stream.receive(limit);
    if (!got || !*got || (*got)->empty()) {
      stream.unread(loop::buffer::copy_of(as_bytes(seen)));
      co_return nullptr;
    }
    const auto bytes = (*got)->bytes();
    if (seen.empty()) {
      // In nearly all cases the first bytes that arrive decide.
      const auto found = look(rows, bytes);
      if (found.is_sure) {
        stream.unread(std::move(**got));
        co_return found.row;
      }
    }
    seen += as_text(bytes);
    const auto found = look(rows, as_bytes(seen));
    if (!found.is_sure) continue;
    stream.unread(loop::buffer::copy_of(as_bytes(seen)));
    co_return found.row;
  }
}

}  // namespace strata::serve
