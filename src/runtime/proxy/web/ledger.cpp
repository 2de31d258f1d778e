#include "runtime/proxy/web/ledger.hpp"

#include <chrono>
#include <ctime>
#include <optional>

#include "runtime/runtime.hpp"

namespace strata::runtime::proxy {

void ledger::note_begin(loop::time_point now) {
  counted_.messages_in.add();
  counted_.rate_in.add(second_of(now), 1);
}

void ledger::note_retry(passage& of) {
  ++of.retries;
  figures_.retries.add();
  of.by->counted->retries.add();
  of.branch->retries.add();
}

void ledger::note_end(const http::exchange& answered, const passage& of, loop::time_point now) {
  counted_.messages_out.add();
  counted_.rate_out.add(second_of(now), 1);
  const auto took = now - of.began;
  count(answered, of, took);
  if (log_ == nullptr) return;
  const auto client = of.client.text();
  const auto backend = of.by ? place_of(of.by->is.text) : std::string_view();
  write({.request = answered.request(),
         .client = client,
         .tls_subject = of.tls_subject,
         .time_s = ::time(nullptr),
         .seconds = std::chrono::duration<double>(took).count(),
         .status = answered.status(),
         .bytes = answered.body_bytes(),
         .backend = backend,
         .route = of.route,
         .retries = of.retries,
         .request_id = of.request_id});
}

// What has become another protocol's lasts as long as people like.
void ledger::count(const http::exchange& answered, const passage& of, loop::duration took) {
  const int status = answered.status();
  figures_.count_answer(status);
  const bool is_timed = status != 101 && answered.request().protocol.empty();
  std::optional<std::uint64_t> us;
  if (is_timed) us = std::chrono::duration_cast<std::chrono::microseconds>(took).count();
  if (us) figures_.latency.add(*us);
  of.branch->count(status, us);
  if (of.has_answered) of.by->counted->count(status, us);
}

void ledger::note_refused(int status, std::size_t body_bytes, const net::peer_info& client) {
  counted_.messages_in.add();
  figures_.count_answer(status);
  if (log_ == nullptr) return;
  const proto::http_request unread;
  const auto address = client.address.text();
  write({.request = unread,
         .client = address,
         .tls_subject = client.tls_subject,
         .time_s = ::time(nullptr),
         .status = status,
         .bytes = body_bytes});
}

void ledger::write(const http::access& what) {
  if (!log_->write(what)) figures_.log_lines_lost.add();
}

}  // namespace strata::runtime::proxy
