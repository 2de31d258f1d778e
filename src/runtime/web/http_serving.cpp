#include "runtime/web/http_serving.hpp"

#include "http/http2/http2_connection.hpp"
#include "net/tls/session.hpp"
#include "serve/detection.hpp"

namespace strata::runtime {

namespace {

serve::verdict match_http2(byte_span first) {
  const auto seen = as_text(first);
  if (seen.starts_with(proto::http2_preface)) return serve::verdict::yes;
  return proto::http2_preface.starts_with(seen) ? serve::verdict::more : serve::verdict::no;
}

// Separate coroutines for the two versions: one for both would hold room for both as long as it
// serves.
loop::task<> serve_http1(std::unique_ptr<net::stream> arrived, const http_service& service,
                         [[maybe_unused]] serve::connection_gauge::place place) {
  {
    http::server_connection served(std::move(arrived), service.limits);
    service.on_begun(served);
    co_await served.serve(service.handlers);
  }
  if (service.on_gone) service.on_gone();
}

loop::task<> serve_http2(std::unique_ptr<net::stream> arrived, const http_service& service,
                         [[maybe_unused]] serve::connection_gauge::place place) {
  {
    auto& loop = arrived->home();
    http::http2_connection served(loop, std::move(arrived), service.limits);
    service.on_begun(served);
    co_await served.serve(service.handlers);
    if (served.was_flooded()) service.on_flooded();
  }
  if (service.on_gone) service.on_gone();
}

}  // namespace

// So long that it never expires, but does not overflow the clock.
loop::duration timeout_of(double seconds) {
  constexpr double unlimited_s = 1e9;
  return loop::from_seconds(seconds == 0 ? unlimited_s : seconds);
}

http::server_limits limits_of(const http_limit_options& options, std::size_t max_unread) {
  return {.max_head = options.http_max_head,
          .max_unread = max_unread,
          .head_timeout = timeout_of(options.http_head_timeout),
          .body_timeout = timeout_of(options.http_body_timeout),
          .idle_timeout = timeout_of(options.http_idle_timeout),
          .max_streams = static_cast<std::uint32_t>(options.http2_max_streams)};
}

loop::task<> serve_http(std::unique_ptr<net::stream> arrived, const http_service& service) {
  const bool is_http2 = co_await speaks_http2(*arrived, service.limits.idle_timeout);
  auto served = serve_http(is_http2, std::move(arrived), service);
  co_await served;
}

loop::task<bool> speaks_http2(net::stream& arrived, loop::duration timeout) {
  static constexpr serve::protocol_row row = {"http2", match_http2};
  const auto* const secured = arrived.tls();
  if (secured != nullptr && !secured->application.empty()) {
    co_return secured->application == "h2";
  }
  const auto* const found =
      co_await serve::detect(arrived, std::span(&row, 1), arrived.home().now() + timeout);
  co_return found != nullptr;
}

loop::task<> serve_http(bool is_http2, std::unique_ptr<net::stream> arrived,
                        const http_service& service, serve::connection_gauge::place place) {
  return is_http2 ? serve_http2(std::move(arrived), service, std::move(place))
                  : serve_http1(std::move(arrived), service, std::move(place));
}

std::string http_refusal() {
  return proto::http_response(503, "text/plain; charset=utf-8",
                              "this server has reached its limit of connections\n", false);
}

}  // namespace strata::runtime
