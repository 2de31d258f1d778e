#include "cli/pipe/opening.hpp"

#include <chrono>
#include <utility>

#include "cli/terminal/output.hpp"
#include "http/field.hpp"
#include "http/websocket_port.hpp"
#include "net/connector.hpp"

namespace strata::cli {

using namespace std::chrono_literals;

namespace {

net::tls_server_settings server_settings_of(const pipe_options& options) {
  net::tls_server_settings made{.client_ca = options.client_ca};
  for (std::size_t i = 0; i < options.cert.size(); ++i) {
    made.certificates.push_back({options.cert[i], options.key[i]});
  }
  if (options.tls_min == "1.3") made.least = net::tls_version::tls_1_3;
  return made;
}

}  // namespace

result<std::unique_ptr<end_opener>> end_opener::make(loop::loop& loop, const pipe_options& options,
                                                     const pipe_ends& ends) {
  std::unique_ptr<end_opener> made(new end_opener(loop, options));
  if (auto read = made->read_certificates(ends); !read) return std::unexpected(read.error());
  return made;
}

result<void> end_opener::read_certificates(const pipe_ends& ends) {
  for (const auto& each : ends) {
    if (!each.is_secure()) continue;
    auto made = each.listens() ? net::tls_context::for_server(server_settings_of(options_))
                               : net::tls_context::for_client(
                                     {.ca = options_.ca,
                                      .server_name = options_.servername,
                                      .certificate = {options_.client_cert, options_.client_key},
                                      .is_insecure = options_.insecure});
    if (!made) return std::unexpected(made.error());
    (each.listens() ? for_server_ : for_client_) = std::move(*made);
  }
  return {};
}

loop::time_point end_opener::limit_of(double seconds) const {
  return seconds == 0 ? loop::time_point::max() : loop_.now() + loop::from_seconds(seconds);
}

loop::task<result<net::listening>> end_opener::listen(const pipe_end& end, bool is_quiet) {
  auto found = co_await net::find_addresses(loop_, end.url);
  if (!found) co_return std::unexpected(found.error());
  result<net::listening> made =
      failure(errc::not_found, "listen on " + end.text(), "it has no address", "check the name");
  for (const auto& address : *found) {
    net::bind_target target{end.url, address};
    target.url.path = end.url.is_web() ? std::string() : end.url.path;
    made = target.url.scheme->listen(loop_, target, {});
    if (!made) continue;
    if (!is_quiet) complain("listening on " + target.bound_text());
    break;
  }
  co_return made;
}

loop::task<loop::descriptor> end_opener::accept(net::listener& listener) {
  for (;;) {
    auto peer = co_await listener.accept();
    if (peer) co_return std::move(*peer);
    complain(describe(peer.error()));
    co_await loop_.sleep(100ms);
  }
}

loop::task<result<open_end>> end_opener::welcome(const pipe_end& end, loop::descriptor peer) {
  open_end made{.bytes = net::stream::over(loop_, std::move(peer))};
  const auto from = made.bytes->peer().address.text();  // unknown once the connection is gone
  if (end.is_secure()) {
    auto agreed =
        co_await made.bytes->start_tls(for_server_, {}, limit_of(options_.handshake_timeout));
    if (!agreed) {
      auto why = std::move(agreed.error());
      why.operation = "complete the TLS handshake with " + from;
      co_return std::unexpected(std::move(why));
    }
  }
  if (!end.url.is_web()) co_return made;
  http::websocket_welcome how{
      .settings = {.protocols = options_.ws_protocol, .origins = options_.ws_origin},
      .target = end.url.path,
      .max_message = options_.max_message,
      .ping = loop::from_seconds(options_.ws_ping)};
  const auto limit = limit_of(options_.handshake_timeout);
  auto opened =
      co_await http::accept_websocket(loop_, std::move(made.bytes), std::move(how), limit);
  if (!opened) co_return std::unexpected(opened.error());
  made.messages = std::move(*opened);
  co_return made;
}

loop::task<result<open_end>> end_opener::connect(const pipe_end& end) {
  net::connecting how{.timeout = loop::from_seconds(options_.connect_timeout),
                      .secure = for_client_};
  auto connected = co_await net::connect(loop_, end.url, std::move(how));
  if (!connected) co_return std::unexpected(connected.error());
  open_end made;
  if (connected->messages) {
    connected->messages->take_large();
    made.messages = net::make_message_port(loop_, std::move(*connected), proto::framing::line, 0);
    co_return made;
  }
  made.bytes = std::move(connected->bytes);
  if (!end.url.is_web()) co_return made;
  http::websocket_wishes wishes{.fields = {},
                                .protocols = options_.ws_protocol,
                                .max_message = options_.max_message,
                                .ping = loop::from_seconds(options_.ws_ping)};
  for (const auto& each : options_.header) wishes.fields.push_back(*http::parse_field(each));
  const auto limit = limit_of(options_.connect_timeout);
  auto opened = co_await http::connect_websocket(loop_, std::move(made.bytes), end.url,
                                                 std::move(wishes), limit);
  if (!opened) co_return std::unexpected(opened.error());
  made.messages = std::move(*opened);
  co_return made;
}

}  // namespace strata::cli
