#include "serve/detection.hpp"

#include <string>

namespace strata::serve {

namespace {

// No row needs more to be sure.
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

loop::task<const protocol_row*> detect(net::stream& from, std::span<const protocol_row> rows,
                                       loop::time_point limit) {
  std::string seen;
  for (;;) {
    auto got = co_await from.receive(limit);
    if (!got || !*got || (*got)->empty()) {
      from.unread(loop::buffer::copy_of(as_bytes(seen)));
      co_return nullptr;
    }
    const auto bytes = (*got)->bytes();
    if (seen.empty()) {
      // Nearly always: the first bytes that come say it.
      const auto found = look(rows, bytes);
      if (found.is_sure) {
        from.unread(std::move(**got));
        co_return found.row;
      }
    }
    seen += as_text(bytes);
    const auto found = look(rows, as_bytes(seen));
    if (!found.is_sure) continue;
    from.unread(loop::buffer::copy_of(as_bytes(seen)));
    co_return found.row;
  }
}

}  // namespace strata::serve
