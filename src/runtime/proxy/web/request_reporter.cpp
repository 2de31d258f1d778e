#include "runtime/proxy/web/request_reporter.hpp"

#include <chrono>
#include <ctime>
#include <optional>

#include "runtime/runtime.hpp"

namespace strata::runtime::proxy {

void request_reporter::note_begin(loop::time_point now) {
  counted_.messages_in.add();
  counted_.rate_in.add(second_of(now), 1);
}

void request_reporter::note_retry(transit& transit) {
  ++transit.retries;
  figures_.retries.add();
  transit.by->counted->retries.add();
  transit.branch->retries.add();
}

void request_reporter::note_end(const http::exchange& answered, const transit& transit,
                                loop::time_point now) {
  counted_.messages_out.add();
  counted_.rate_out.add(second_of(now), 1);
  const auto took = now - transit.began;
  count(answered, transit, took);
  if (log_ == nullptr) return;
  const auto client = transit.client.text();
  const auto backend = transit.by ? place_of(transit.by->is.text) : std::string_view();
  write({.request = answered.request(),
         .client = client,
         .tls_subject = transit.tls_subject,
         .time_s = ::time(nullptr),
         .seconds = std::chrono::duration<double>(took).count(),
         .status = answered.status(),
         .bytes = answered.body_bytes(),
         .backend = backend,
         .route = transit.route,
         .retries = transit.retries,
         .request_id = transit.request_id});
}

// An upgraded connection is not timed: it lasts as long as its users like.
void request_reporter::count(const http::exchange& answered, const transit& transit,
                             loop::duration took) {
  const int status = answered.status();
  figures_.count_answer(status);
  const bool is_timed = status != 101 && answered.request().protocol.empty();
  std::optional<std::uint64_t> us;
  if (is_timed) us = std::chrono::duration_cast<std::chrono::microseconds>(took).count();
  if (us) figures_.latency.add(*us);
  transit.branch->count(status, us);
  if (transit.has_answered) transit.by->counted->count(status, us);
}

void request_reporter::note_refused(int status, std::size_t body_bytes,
                                    const net::peer_info& client) {
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

void request_reporter::write(const http::access& access) {
  if (!log_->write(access)) figures_.log_lines_lost.add();
}

}  // namespace strata::runtime::proxy
