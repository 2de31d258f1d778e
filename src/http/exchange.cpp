#include "http/exchange.hpp"

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

loop::task<bool> exchange::write(std::string_view piece) {
  push(piece);
  return room();
}

int status_of(const error& of_read) {
  if (of_read.code == errc::limit_exceeded) return 413;
  return of_read.code == errc::timed_out ? 408 : 400;
}

}  // namespace strata::http
