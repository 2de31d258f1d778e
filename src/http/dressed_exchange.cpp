#include "http/dressed_exchange.hpp"

namespace strata::http {

void dressed_exchange::respond(answer_head head, std::string_view body) {
  note_head(head.status);
  dress(head);
  of_.respond(std::move(head), body);
  note_body(of_.body_bytes());
  note_end();
}

void dressed_exchange::begin(answer_head head) {
  note_head(head.status);
  dress(head);
  of_.begin(std::move(head));
}

loop::task<bool> dressed_exchange::write_file(loop::file_part part) {
  const auto before = of_.body_bytes();
  const bool is_written = co_await of_.write_file(part);
  note_body(of_.body_bytes() - before);
  co_return is_written;
}

void dressed_exchange::push(const loop::slice& piece) {
  const auto before = of_.body_bytes();
  of_.push(piece);
  note_body(of_.body_bytes() - before);
}

std::unique_ptr<net::byte_channel> dressed_exchange::upgrade(const proto::http_fields& fields) {
  auto taken = of_.upgrade(fields);
  note_head(of_.status());
  note_end();
  return taken;
}

}  // namespace strata::http
