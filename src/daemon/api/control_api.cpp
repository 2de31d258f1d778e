#include "daemon/api/control_api.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>

#include "daemon/api/change_note.hpp"
#include "daemon/api/control_socket.hpp"
#include "http/server_connection.hpp"
#include "http/websocket_port.hpp"
#include "loop/socket_file.hpp"

namespace strata::daemon {

using namespace std::chrono_literals;

namespace {

constexpr std::size_t longest_body = 16U << 20U;  // of a request, in bytes
constexpr auto session_ping = 30s;                // a caller that has vanished ends its session
constexpr std::uint64_t most_remote = 256;  // connections of remote clients, not identified yet

/// Matches `/v1/runtimes/{name}/start` against a path; stores the name in `*name`.
bool matches(std::string_view pattern, std::string_view path, std::string* name) {
  constexpr std::string_view placeholder = "{name}";
  const auto hole = pattern.find(placeholder);
  if (hole == std::string_view::npos) return pattern == path;
  const auto before = pattern.substr(0, hole);
  const auto after = pattern.substr(hole + placeholder.size());
  if (!path.starts_with(before) || !path.ends_with(after)) return false;
  if (path.size() <= before.size() + after.size()) return false;
  const auto middle = path.substr(before.size(), path.size() - before.size() - after.size());
  if (middle.contains('/')) return false;
  *name = middle;
  return true;
}

}  // namespace

control_api::control_api(supervisor& runtimes, runtime::loop_source& loops,
                         control_answers::facts facts, std::shared_ptr<runtime::journal> log)
    : supervisor_(runtimes),
      log_(std::move(log)),
      answers_(runtimes, loops, std::move(facts)),
      api_(runtimes.home(), acceptor_settings(listener_kind::api)),
      remote_(runtimes.home(), acceptor_settings(listener_kind::remote)),
      metrics_(runtimes.home(), acceptor_settings(listener_kind::metrics)) {}

control_api::~control_api() { stop(); }

loop::task<> control_api::stop_accepting() {
  for (auto* const each : {&api_, &remote_, &metrics_}) co_await each->finish_listening();
}

void control_api::stop() {
  for (auto* const each : {&api_, &remote_, &metrics_}) {
    each->stop_listening();
    each->end_connections();
  }
}

serve::acceptor_settings control_api::acceptor_settings(listener_kind kind) {
  return {
      .connections = connections_,
      .admits =
          [this, kind](const loop::descriptor& arrived, unsigned /*tag*/) {
            if (kind != listener_kind::api || access_.role_of_process(arrived)) return true;
            log_->write_few("stranger", runtime::level::warning,
                            "a process of another user and group was refused");
            return false;
          },
      .is_for_operator = kind == listener_kind::api,
      .most = [kind]() -> std::uint64_t { return kind == listener_kind::api ? 0 : most_remote; },
      .serve =
          [this, kind](auto connection, auto place, unsigned /*tag*/) {
            return serve(std::move(connection), std::move(place), kind);
          },
      .refusal = {},
      .on_refused = [](const loop::socket_address&, std::string_view) {},
      .on_secured =
          [this](const net::stream& stream) {
            const auto& peer = stream.peer();
            if (peer.tls_subject.empty()) return;
            log_->write(runtime::level::debug, fmt::format("client {} has the certificate of '{}'",
                                                           peer.address.text(), peer.tls_subject));
          },
      .on_trouble =
          [this](const error& why, bool is_new) {
            if (is_new) log_->write_few("trouble", runtime::level::error, describe(why));
          },
  };
}

result<void> control_api::listen(const std::string& path, std::optional<socket_group> group) {
  auto address = loop::socket_address::from_path(path);
  if (!address) return std::unexpected(address.error());
  // No other user may connect from bind(2) on.
  const auto before = ::umask(0177);
  auto listening = supervisor_.home().listen(*address, {});
  ::umask(before);
  if (!listening) return std::unexpected(listening.error());
  api_.add(std::make_unique<net::listener>(supervisor_.home(), std::move(*listening)));
  access_.set_group(group);
  if (group) return loop::give_socket(path, group->id, 0660);
  return {};
}

void control_api::secure_with(std::shared_ptr<const net::tls_slot> certificates,
                              remote_access access) {
  secure_ = std::move(certificates);
  answers_.show_certificates(secure_);
  access_.set_remote(std::move(access));
}

result<void> control_api::listen_remote(const loop::socket_address& address) {
  auto listening = supervisor_.home().listen(address, {});
  if (!listening) return std::unexpected(listening.error());
  remote_.add(std::make_unique<net::listener>(supervisor_.home(), std::move(*listening)), 0,
              secure_);
  return {};
}

result<void> control_api::listen_metrics(const loop::socket_address& address, bool is_secure) {
  auto listening = supervisor_.home().listen(address, {});
  if (!listening) return std::unexpected(listening.error());
  metrics_.add(std::make_unique<net::listener>(supervisor_.home(), std::move(*listening)), 0,
               is_secure ? secure_ : nullptr);
  are_metrics_secure_ = is_secure;
  return {};
}

void control_api::begin() {
  api_.begin();
  remote_.begin();
  metrics_.begin();
}

loop::task<> control_api::serve(std::unique_ptr<net::stream> connection,
                                [[maybe_unused]] serve::connection_gauge::place place,
                                listener_kind kind) {
  const auto role = kind == listener_kind::api
                        ? access_.role_of_process(connection->out().socket())
                        : access_.role_of_subject(connection->peer().tls_subject);
  if (!role) co_return;
  const api_client client{kind, *role, caller_text(*connection)};
  http::handler respond = [&](http::exchange& exchange) { return handle(exchange, client); };
  http::refusal refuse = [](int /*status*/, const error& why, const net::peer_info& /*of*/) {
    auto answer = error_answer(why);
    return std::pair(std::move(answer.body), std::move(answer.type));
  };
  http::server_connection served(std::move(connection));
  const http::handlers handlers{std::move(respond), std::move(refuse)};
  co_await served.serve(handlers);
}

void control_api::respond(http::exchange& exchange, const api_answer& answer) {
  exchange.respond(answer.status, answer.type, answer.body);
}

void control_api::refuse_token(http::exchange& exchange, const api_client& client) {
  const bool has_other = exchange.request().header("authorization").has_value();
  log_->write_few(
      "token", runtime::level::warning,
      fmt::format("{} was refused: its token is {}", client.text, has_other ? "wrong" : "missing"));
  const auto answer =
      error_answer(401, "permission_denied", "the daemon does not accept the token",
                   "set the right one in STRATA_TOKEN, or send Authorization: Bearer TOKEN");
  exchange.respond({.status = answer.status,
                    .fields = {{"Content-Type", answer.type}, {"WWW-Authenticate", "Bearer"}},
                    .length = {}},
                   answer.body);
}

api_answer control_api::refuse_role(const http::exchange& exchange, const api_client& client,
                                    const route_row& row, runtime::role role) {
  const auto needed = name_of(row.needed);
  log_->write_few("role", runtime::level::warning,
                  fmt::format("{} was refused: {} {} needs the role '{}', it has '{}'", client.text,
                              row.method, row.path, needed, name_of(role)));
  const auto remedy =
      client.listener == listener_kind::api
          ? fmt::format("use 'sudo strata', or run the daemon with --socket-role {}", needed)
          : fmt::format("use a token or a certificate with the role '{}'", needed);
  const auto& request = exchange.request();
  return error_answer(403, "permission_denied",
                      fmt::format("cannot {} '{}': it needs the role '{}', and you have '{}'",
                                  request.method, request.path, needed, name_of(role)),
                      remedy);
}

std::optional<runtime::role> control_api::role_of(const http::exchange& exchange,
                                                  const api_client& client) const {
  if (!is_guarded(client.listener)) return client.role;
  return access_.role_of_request(exchange.request(), client.role);
}

loop::task<> control_api::handle(http::exchange& exchange, const api_client& client) {
  const auto role = role_of(exchange, client);
  if (!role) {
    refuse_token(exchange, client);
    co_return;
  }
  if (exchange.request().has_opaque_query) {
    respond(exchange,
            error_answer(400, "invalid_argument", "cannot decode the query", "write % as %25"));
    co_return;
  }
  if (closing_) {
    respond(exchange, error_answer(503, "unavailable", "cannot serve: the daemon is stopping",
                                   "wait for the next daemon"));
    co_return;
  }
  co_await dispatch(exchange, client, *role);
}

control_api::destination control_api::find_route(const http::exchange& exchange,
                                                 listener_kind listener) {
  destination found;
  for (const auto& each : control_answers::routes()) {
    if (listener == listener_kind::metrics && !each.row.is_public) continue;
    if (!matches(each.row.path, exchange.request().path, &found.name)) continue;
    found.is_path_known = true;
    if (each.row.method != exchange.method()) continue;
    found.served = &each;
    break;
  }
  return found;
}

loop::task<> control_api::dispatch(http::exchange& exchange, const api_client& client,
                                   runtime::role role) {
  const auto& request = exchange.request();
  const auto destination = find_route(exchange, client.listener);
  if (destination.served == nullptr) {
    const bool is_known = destination.is_path_known;
    const auto message = is_known ? "cannot " + request.method + " '" + request.path + "'"
                                  : "cannot find '" + request.path + "'";
    respond(exchange,
            error_answer(is_known ? 405 : 404, is_known ? "method_not_allowed" : "not_found",
                         message, description_hint));
    co_return;
  }
  const auto& route = *destination.served;
  if (role < route.row.needed) {
    respond(exchange, refuse_role(exchange, client, route.row, role));
    co_return;
  }
  if (route.operation != nullptr && route.operation->open != nullptr) {
    co_await hold_session(exchange, client, destination);
    co_return;
  }
  result<feed_request> asked;
  if (route.find_feed != nullptr) asked = read_feed_request(request);
  if (!asked) {
    respond(exchange, error_answer(asked.error()));
    co_return;
  }
  if (route.find_feed == nullptr || (route.run != nullptr && !asked->follows)) {
    const auto reply = co_await run(exchange, client, destination);
    respond(exchange, reply);
    co_return;
  }
  const control_answers::call feed_call{request, destination.name, {}, nullptr};
  auto found = (answers_.*route.find_feed)(feed_call);
  if (!found) {
    respond(exchange, error_answer(found.error()));
    co_return;
  }
  co_await stream_to(exchange, client, route.row, std::move(*found), *asked);
}

loop::task<api_answer> control_api::run(http::exchange& exchange, const api_client& client,
                                        const destination& destination) {
  const auto& route = *destination.served;
  // Reading the metrics takes no body.
  auto body =
      co_await exchange.read_all(client.listener == listener_kind::metrics ? 0 : longest_body);
  if (!body) co_return error_answer(body.error());
  // A named variable, since GCC 12 destroys a braced temporary in a co_await twice.
  const control_answers::call wanted{exchange.request(), destination.name, std::move(*body),
                                     route.operation};
  auto reply = co_await (answers_.*route.run)(wanted);
  if (route.row.is_change) {
    const bool is_done = reply.status < 300;
    log_->write(runtime::level::info,
                change_note(route.row, destination.name, wanted.body, client.text, is_done));
  }
  co_return reply;
}

loop::task<> control_api::stream_to(http::exchange& exchange, const api_client& client,
                                    const route_row& row, feed source, feed_request request) {
  open_stream going_out(exchange, client, row.needed, [&exchange] { exchange.abort(); });
  streams_.push_back(going_out);
  co_await stream(supervisor_.home(), exchange, std::move(source), std::move(request));
}

loop::task<> control_api::hold_session(http::exchange& exchange, const api_client& client,
                                       const destination& destination) {
  const auto& request = exchange.request();
  if (!http::asks_for_websocket(exchange)) {
    respond(exchange, error_answer(426, "not_supported", "this opens a WebSocket",
                                   "send the fields of one, as RFC 6455 says"));
    co_return;
  }
  const http::websocket_welcome welcome{
      .settings = {}, .target = {}, .ping = session_ping, .is_binary = true};
  // Nothing is done for a page of another site, whose browser may have a client's certificate.
  if (const auto asked = http::check_opening(exchange, welcome.settings); !asked) {
    const auto& refusal = asked.error();
    const auto* const code = refusal.status == 403 ? "permission_denied" : "invalid_argument";
    respond(exchange, error_answer(refusal.status, code, refusal.reason, description_hint));
    co_return;
  }
  const auto& route = *destination.served;
  const control_answers::call wanted{request, destination.name, {}, route.operation};
  auto opened = co_await answers_.open_session(wanted);
  log_->write(runtime::level::info,
              change_note(route.row, destination.name, {}, client.text, opened.has_value()));
  if (!opened) {
    respond(exchange, error_answer(opened.error()));
    co_return;
  }
  const auto caller = http::open_websocket_port(supervisor_.home(), exchange, welcome);
  if (!caller) co_return;
  auto& session = **opened;
  open_stream held(exchange, client, route.row.needed, [&session] { session.end(); });
  streams_.push_back(held);
  co_await session.hold(*caller);
}

void control_api::replace_tokens(token_list tokens) {
  access_.set_tokens(std::move(tokens));
  for (const auto& each : streams_) {
    const auto role = role_of(each.exchange, each.client);
    if (role && *role >= each.needed) continue;
    log_->write(runtime::level::info,
                each.client.text + " was disconnected: its token is no longer accepted");
    each.end();
  }
}

}  // namespace strata::daemon
