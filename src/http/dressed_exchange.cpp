#include "http/dressed_exchange.hpp"

namespace strata::http {

void dressed_exchange::respond(answer_head head, std::string_view body) {
  note_head(head.status);
  note_end();
  dress(head);
  of_.respond(std::move(head), body);
}

void dressed_exchange::begin(answer_head head) {
  note_head(head.status);
  dress(head);
  of_.begin(std::move(head));
}

}  // namespace strata::http
