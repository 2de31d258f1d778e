#include "http/exchange.hpp"

#include <algorithm>

#include "http/file_piece.hpp"

namespace strata::http {

loop::task<result<std::string>> exchange::read_all(std::uint64_t most) {
  std::string all;
  for (;;) {
    auto more = co_await read(most);
    if (!more) co_return more;
    if (more->empty()) co_return all;
    all += *more;
  }
}

void exchange::respond(answer_head head, std::string_view body) {
  head.length = body.size();
  begin(std::move(head));
  push(body);
  finish();
}

void exchange::respond(int status, std::string_view type, std::string_view body) {
  answer_head head{.status = status, .fields = {}, .length = {}};
  if (!type.empty()) head.fields.emplace_back("Content-Type", type);
  respond(std::move(head), body);
}

void exchange::push(std::string_view piece) {
  if (!piece.empty()) push(loop::slice::copy_of(as_bytes(piece)));
}

loop::task<bool> exchange::write(const loop::slice& piece) {
  push(piece);
  return room();
}

loop::task<bool> exchange::write(std::string_view piece) {
  push(piece);
  return room();
}

loop::task<bool> exchange::write_file(loop::file_part part) {
  while (part.count != 0) {
    const auto size = std::min<std::uint64_t>(part.count, file_piece_size);
    const auto piece = read_piece({.fd = part.fd, .offset = part.offset, .count = size});
    if (piece.empty()) co_return false;
    push(piece);
    part.offset += size;
    part.count -= size;
    const bool has_room = co_await room();
    if (!has_room) co_return false;
  }
  co_return true;
}

int status_of(const error& of_read) {
  if (of_read.code == errc::limit_exceeded) return 413;
  return of_read.code == errc::timed_out ? 408 : 400;
}

}  // namespace strata::http
