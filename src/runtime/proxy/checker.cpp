#include "runtime/proxy/checker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "http/client/http1_client.hpp"
#include "http/client/http2_client.hpp"

namespace strata::runtime::proxy {

namespace {

constexpr std::size_t longest_answer = 1U << 20U;

bool is_wanted(const std::string& statuses, int status) {
  const auto first = std::to_string(status / 100) + "xx";
  const auto whole = std::to_string(status);
  for (std::size_t at = 0; at < statuses.size();) {
    const auto end = std::min(statuses.find(',', at), statuses.size());
    const auto one = std::string_view(statuses).substr(at, end - at);
    if (one == first || one == whole) return true;
    at = end + 1;
  }
  return false;
}

}  // namespace

void checker::apply() {
  const auto& options = how_.options;
  const std::array request{options.check, options.check_path, options.check_status};
  if (std::exchange(request_, request) == request) return;
  disarm();
  asking_.cancel();
  for (const auto& each : how_.all()) {
    each->checks.is_asked = false;
    each->stands->last_check = check_outcome::none;
    if (options.check != "off") continue;
    each->checks = {};
    each->stands->is_down = false;
  }
  if (options.check != "off") loop_.arm_after(*this, loop::duration::zero());
}

// A check that takes longer than the check interval has failed.
void checker::on_timer() {
  asking_.cancel();
  for (const auto& each : how_.all()) {
    if (std::exchange(each->checks.is_asked, false)) {
      note(*each, failure(errc::timed_out, "check a backend", "it has not answered in time"));
    }
    asking_.spawn(check(each));
  }
  loop_.arm_after(*this, loop::from_seconds(how_.options.check_interval));
}

loop::task<> checker::check(backend_ref backend) {
  backend->checks.is_asked = true;
  const auto found = co_await ask(backend);
  backend->checks.is_asked = false;
  note(*backend, found);
}

loop::task<result<void>> checker::ask(backend_ref backend) {
  auto made = co_await how_.connect(backend);
  if (!made) co_return std::unexpected(made.error());
  if (how_.options.check == "tcp") co_return result<void>{};
  if (how_.options.check == "tls") {
    auto agreed = co_await agree_on_tls(backend, std::move(*made));
    co_return agreed;
  }
  std::unique_ptr<http::inquiry> over;
  if (backend->takes_http2(**made)) {
    over = std::make_shared<http::http2_client>(loop_, std::move(*made), std::chrono::seconds(1))
               ->open();
  } else {
    over = std::make_unique<http::http1_client>(std::move(*made));
  }
  const auto host = backend->is.url.has_port() ? backend->is.url.host : "localhost";
  const proto::http_fields fields = {
      {"host", host}, {"user-agent", "strata-check"}, {"connection", "close"}};
  over->begin({.method = "GET", .target = how_.options.check_path, .fields = fields});
  over->finish();
  constexpr auto for_ever = loop::time_point::max();
  auto head = co_await over->final_head(for_ever);
  if (!head) co_return std::unexpected(head.error());
  for (std::size_t seen = 0; seen < longest_answer;) {
    const auto piece = co_await over->read(for_ever);
    if (!piece) co_return std::unexpected(piece.error());
    if (piece->empty()) break;
    seen += piece->size();
  }
  if (is_wanted(how_.options.check_status, head->status)) co_return result<void>{};
  co_return failure(
      errc::conflict, "check " + how_.options.check_path,
      fmt::format("the answer was {}, not {}", head->status, how_.options.check_status));
}

// If connections to the backend use TLS, the handshake is done already. Otherwise the clients
// verify its certificate themselves.
loop::task<result<void>> checker::agree_on_tls(backend_ref backend,
                                               std::unique_ptr<net::stream> stream) {
  if (stream->tls() != nullptr) co_return result<void>{};
  if (!any_) {
    auto made = net::tls_context::for_client({.is_insecure = true});
    if (!made) co_return std::unexpected(made.error());
    any_ = std::move(*made);
  }
  auto agreed = co_await stream->start_tls(any_, backend->is.url.host, loop::time_point::max());
  co_return agreed;
}

void checker::note(backend& backend, const result<void>& outcome) {
  auto& checks = backend.checks;
  auto& stands = *backend.stands;
  const bool is_good = outcome.has_value();
  stands.last_check = is_good ? check_outcome::passed : check_outcome::failed;
  if (is_good == !stands.is_down) {
    checks.against = 0;
    return;
  }
  const auto needed = is_good ? how_.options.check_rise : how_.options.check_fall;
  if (++checks.against < needed) return;
  checks.against = 0;
  // Set the slow start first: a loop that sees the backend up sees its start time too.
  if (is_good) stands.came = loop_.now();
  stands.is_down = !is_good;
  const auto text = is_good ? fmt::format("backend '{}' is up: {} checks in a row succeeded",
                                          backend.is.text, needed)
                            : fmt::format("backend '{}' is down: {} checks in a row failed: {}",
                                          backend.is.text, needed, describe(outcome.error()));
  how_.report(is_good ? level::info : level::warning, is_good ? "up" : "down", text);
}

}  // namespace strata::runtime::proxy
