#include "http/websocket_opening.hpp"

#include <algorithm>

#include "net/tls/digest.hpp"
#include "proto/websocket/websocket_handshake.hpp"
#include "text/word.hpp"

namespace strata::http {

namespace {

void refuse(exchange& exchange, int status, const std::string& why,
            proto::http_fields fields = {}) {
  fields.emplace_back("Content-Type", "text/plain");
  exchange.respond({.status = status, .fields = std::move(fields), .length = {}}, why + "\n");
}

// Each message is compressed on its own, on both sides: a broadcast is compressed once, and an idle
// connection keeps no window.
constexpr proto::websocket_deflate wanted_deflate{.server_no_context_takeover = true,
                                                  .client_no_context_takeover = true};

}  // namespace

// Host and scheme names are case-insensitive.
bool is_admitted_origin(std::string_view origin, std::string_view host,
                        const std::vector<std::string>& origins) {
  const auto scheme_end = origin.find("://");
  if (scheme_end != std::string_view::npos &&
      text::same_text(origin.substr(scheme_end + 3), host)) {
    return true;
  }
  return std::ranges::any_of(origins, [origin](const std::string& each) {
    return each == "*" || text::same_text(each, origin);
  });
}

bool asks_for_websocket(const exchange& exchange) {
  return proto::is_websocket_request(exchange.request());
}

checked_opening check_opening(const exchange& exchange, const websocket_settings& settings) {
  const auto& request = exchange.request();
  auto asked = proto::read_websocket_request(request);
  if (!asked) return asked;
  const auto origin = request.header("origin");
  const bool is_admitted =
      !origin || is_admitted_origin(*origin, request.header("host").value_or(""), settings.origins);
  if (is_admitted) return asked;
  auto reason = "pages of '" + std::string(*origin) + "' may not open a WebSocket here";
  return std::unexpected(
      proto::websocket_refusal{.status = 403, .reason = std::move(reason), .headers = {}});
}

std::optional<opened_websocket> open_websocket(exchange& exchange,
                                               const websocket_settings& settings) {
  auto asked = check_opening(exchange, settings);
  if (!asked) {
    auto& refusal = asked.error();
    if (refusal.status == 403 && settings.on_refused_origin) {
      settings.on_refused_origin(refusal.reason);
    }
    refuse(exchange, refusal.status, refusal.reason, std::move(refusal.headers));
    return std::nullopt;
  }
  opened_websocket opened;
  proto::http_fields fields;
  if (!asked->key.empty()) {
    const auto keyed = proto::websocket_accept_text(asked->key);
    fields = {{"Upgrade", "websocket"},
              {"Connection", "Upgrade"},
              {"Sec-WebSocket-Accept", proto::websocket_accept(net::sha1(as_bytes(keyed)))}};
  }
  if (const auto one = proto::choose_websocket_protocol(asked->protocols, settings.protocols)) {
    opened.protocol = *one;
    fields.emplace_back("Sec-WebSocket-Protocol", opened.protocol);
  }
  if (settings.is_deflated) {
    auto deflate = proto::accept_deflate(asked->extensions, wanted_deflate);
    if (!deflate) {
      refuse(exchange, 400, describe(deflate.error()));
      return std::nullopt;
    }
    if (*deflate) {
      opened.deflate = (*deflate)->agreed;
      fields.emplace_back("Sec-WebSocket-Extensions", (*deflate)->header);
    }
  }
  opened.channel = exchange.upgrade(fields);
  return opened;
}

}  // namespace strata::http
