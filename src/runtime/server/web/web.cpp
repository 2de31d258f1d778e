#include "runtime/server/web/web.hpp"

#include <fmt/format.h>

#include "http/cross_origin.hpp"
#include "http/dressed_exchange.hpp"
#include "proto/http/http_fields.hpp"
#include "runtime/server/script/shard_script.hpp"
#include "runtime/server/shard.hpp"
#include "runtime/server/web/event_stream.hpp"
#include "runtime/server/web/websocket_member.hpp"
#include "runtime/web/http_serving.hpp"
#include "runtime/web/http_tap.hpp"

namespace strata::runtime::server {

namespace {

constexpr std::string_view plain = "text/plain; charset=utf-8";

/// The member for a message sent by POST: it sends, and receives nothing.
class poster final : public member {
 public:
  poster(shard& shard, const loop::socket_address& address)
      : member(shard, encoding::raw, presence::passing), address_(address) {}
  [[nodiscard]] loop::socket_address address() const override { return address_; }
  std::size_t offer(const batch& /*messages*/) override { return 0; }
  void dismiss(parting /*why*/) override {}

 private:
  loop::socket_address address_;
};

web_client web_client_of(const net::peer_info& peer) {
  return {peer.address.text(), peer.tls_subject};
}

class visit {
 public:
  visit(shard& shard, serve::connection_gauge::place&& place)
      : home_(shard), place_(std::move(place)) {}

  loop::task<> answer(http::exchange& exchange) {
    auto& shared = home_.web();
    const auto began = home_.loop().now();
    const auto client = shared.keeps_log() ? web_client_of(exchange.peer()) : web_client();
    const auto shown = http_tap::open(*home_.state().tap, home_.name(), exchange);
    if (shared.dresses()) {
      http::dressed_exchange dressed(exchange, shared.fields_for(exchange.request()));
      co_await route(dressed);
    } else {
      co_await route(exchange);
    }
    shared.note(exchange, client, began);
  }

 private:
  loop::task<> route(http::exchange& exchange) {
    const bool has_messages = home_.options().http_messages && exchange.request().path == "/";
    auto* const files = home_.web().files();
    if (http::asks_for_websocket(exchange)) {
      co_await open_websocket(exchange);
    } else if (home_.web().answers_preflights() && http::is_preflight(exchange.request())) {
      http::answer_preflight(exchange, has_messages ? "GET, HEAD, POST" : "GET, HEAD");
    } else if (has_messages && exchange.request().method == "POST") {
      co_await take_message(exchange);
    } else if (has_messages && wants_events(exchange)) {
      co_await event_stream::serve(home_, exchange);
    } else if (const bool is_answered = co_await ask_script(exchange); is_answered) {
      co_return;
    } else if (files != nullptr) {
      auto rest = files->answer(exchange);
      if (rest) co_await files->send(exchange, std::move(*rest));
    } else {
      exchange.respond(404, plain, "there is nothing at " + exchange.request().path + "\n");
    }
  }

  loop::task<bool> ask_script(http::exchange& exchange) {
    auto* const script = home_.script();
    if (script == nullptr || !script->answers().has_callback()) co_return false;
    co_return co_await script->answers().answer(exchange);
  }

  static bool wants_events(const http::exchange& exchange) {
    return exchange.method() == "GET" &&
           proto::has_token(exchange.request().headers, "accept", "text/event-stream");
  }

  loop::task<> open_websocket(http::exchange& exchange) {
    const auto& options = home_.options();
    http::websocket_settings how{.protocols = options.ws_protocol,
                                 .origins = options.ws_origin,
                                 .is_deflated = options.ws_deflate == "on"};
    const auto id = home_.next_id();
    if (auto* const script = home_.script(); script != nullptr) {
      const auto choice = co_await script->answers().choose(exchange, id);
      if (choice.is_refused) {
        home_.refuse(exchange.peer().address, refusal::script,
                     "on_websocket refused the WebSocket");
        exchange.respond(403, plain, "this server refused the WebSocket\n");
        co_return;
      }
      if (!choice.protocol.empty()) how.protocols = {choice.protocol};
    }
    how.on_refused_origin = [this, &exchange](std::string_view reason) {
      home_.refuse(exchange.peer().address, refusal::origin, reason);
    };
    auto opened = http::open_websocket(exchange, how);
    if (!opened) co_return;
    if (auto* const script = home_.script()) {
      script->answers().keep_identity(id, exchange.request());
    }
    if (exchange.owns_connection()) {
      home_.adopt(websocket_member::serve(home_, std::move(*opened), id, std::move(place_)));
      co_return;
    }
    // The place belongs to the connection, which carries other exchanges.
    auto serving = websocket_member::serve(home_, std::move(*opened), id, {});
    co_await serving;
  }

  loop::task<> take_message(http::exchange& exchange) {
    if (home_.script() != nullptr && home_.script()->lets_in()) {
      exchange.respond(403, plain,
                       "this server admits each client with a script: use a WebSocket\n");
      co_return;
    }
    auto body = co_await exchange.read_all(home_.options().max_message);
    if (!body) {
      exchange.respond(http::status_of(body.error()), plain, describe(body.error()) + "\n");
      co_return;
    }
    home_.count().bytes_in.add(body->size());
    if (home_.is_silent()) {
      exchange.respond(503, plain, "the server is being stopped\n");
      co_return;
    }
    poster from(home_, exchange.peer().address);
    home_.on_message(from, {as_bytes(*body)});
    home_.publish();
    exchange.respond(204, "", "");
  }

  shard& home_;
  serve::connection_gauge::place place_;
};

}  // namespace

loop::task<> serve_web(shard& shard, std::unique_ptr<net::stream> arrived,
                       serve::connection_gauge::place place) {
  visit visited(shard, std::move(place));
  http::refusal refuse = [&shard](int status, const error& why, const net::peer_info& peer) {
    auto body = describe(why) + "\n";
    const auto client = shard.web().keeps_log() ? web_client_of(peer) : web_client();
    shard.web().note_refused(status, body.size(), client);
    return std::pair(std::move(body), std::string(plain));
  };
  const http_service by{
      .limits = limits_of(shard.options(), shard.options().http_max_body),
      .handlers = {.answer =
                       [&visited](http::exchange& exchange) { return visited.answer(exchange); },
                   .refuse = std::move(refuse)},
      .on_begun = [&shard](http::served_connection& begun) { shard.enter_web(begun); },
      .on_flooded = [&shard] { shard.count().http2_floods.add(); },
      .on_gone = {},
  };
  co_await serve_http(std::move(arrived), by);
}

}  // namespace strata::runtime::server
