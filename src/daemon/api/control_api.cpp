#include "daemon/api/control_api.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>

#include "daemon/api/change_note.hpp"
#include "daemon/api/control_socket.hpp"
#include "daemon/api/openapi.hpp"
#include "daemon/api/query.hpp"
#include "daemon/api/types_json.hpp"
#include "daemon/supervisor/render.hpp"
#include "http/server_connection.hpp"
#include "loop/socket_file.hpp"
#include "options/option_table.hpp"
#include "runtime/tls_identity.hpp"
#include "text/json_text.hpp"

namespace strata::daemon {

using namespace std::chrono_literals;

namespace {

constexpr std::size_t longest_body = 16U << 20U;  // of a request, in bytes
constexpr auto* description_hint = "see GET /v1/openapi.yaml";
constexpr std::uint64_t most_remote = 256;  // connections of remote clients, not identified yet

int status_of(const error& failed) {
  switch (failed.code) {
    case errc::invalid_argument:
    case errc::malformed: return 400;
    case errc::permission_denied: return 403;
    case errc::not_found: return 404;
    case errc::already_exists:
    case errc::conflict: return 409;
    // A shortage of the system is not the request's fault.
    case errc::limit_exceeded:
      return failed.sys_errno == 0 || failed.sys_errno == EMSGSIZE ? 413 : 503;
    case errc::not_supported: return 501;
    case errc::timed_out: return 504;
    case errc::no_space: return 507;
    default: return 500;
  }
}

nlohmann::json error_json(std::string_view code, std::string_view message,
                          std::string_view remedy) {
  return {{"error", {{"code", code}, {"message", message}, {"remedy", remedy}}}};
}

/// The fault, and separately the remedy.
nlohmann::json error_json(error why) {
  const auto remedy = std::exchange(why.remedy, {});
  return error_json(name_of(why.code), describe(why), remedy);
}

result<nlohmann::json> parse_body(const std::string& body) {
  const std::string operation = "read the request's body";
  auto json = text::parse_json(body, operation);
  if (json && !json->is_object()) {
    return failure(errc::malformed, operation, "it is not a JSON object");
  }
  return json;
}

result<std::string> text_at(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string()) {
    return failure(errc::invalid_argument, "read the request",
                   "the string '" + std::string(key) + "' is missing", description_hint);
  }
  return found->get<std::string>();
}

result<bool> flag_at(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) return false;
  if (found->is_boolean()) return found->get<bool>();
  return failure(errc::invalid_argument, "read the request",
                 "'" + std::string(key) + "' is neither true nor false");
}

/// Nullopt: any revision is accepted.
result<std::optional<std::uint64_t>> revision_at(const nlohmann::json& object) {
  const auto found = object.find("revision");
  if (found == object.end()) return std::nullopt;
  if (found->is_number_unsigned()) return found->get<std::uint64_t>();
  return failure(errc::invalid_argument, "read the request",
                 "'revision' is not a whole number from 0", description_hint);
}

result<void> check_keys(const nlohmann::json& object, std::span<const std::string_view> known) {
  for (const auto& [key, value] : object.items()) {
    if (std::ranges::find(known, key) != known.end()) continue;
    return failure(errc::invalid_argument, "read the request",
                   "it has an unknown key '" + key + "'", description_hint);
  }
  return {};
}

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

control_api::control_api(supervisor& runtimes, runtime::loop_source& loops, facts facts)
    : supervisor_(runtimes),
      loops_(loops),
      facts_(std::move(facts)),
      api_(runtimes.home(), acceptor_settings(listener_kind::api)),
      remote_(runtimes.home(), acceptor_settings(listener_kind::remote)),
      metrics_(runtimes.home(), acceptor_settings(listener_kind::metrics)) {}

control_api::~control_api() { stop(); }

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
            facts_.log->write_few("stranger", runtime::level::warning,
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
            facts_.log->write(runtime::level::debug,
                              fmt::format("client {} has the certificate of '{}'",
                                          peer.address.text(), peer.tls_subject));
          },
      .on_trouble =
          [this](const error& why, bool is_new) {
            if (is_new) facts_.log->write_few("trouble", runtime::level::error, describe(why));
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
  const http::handler respond = [&](http::exchange& exchange) { return handle(exchange, client); };
  const http::refusal refuse = [](int /*status*/, const error& why, const net::peer_info& /*of*/) {
    return std::pair(dump(error_json(why)), std::string("application/json"));
  };
  http::server_connection served(supervisor_.home(), std::move(connection));
  co_await served.serve(respond, refuse);
}

void control_api::respond(http::exchange& exchange, const answer& answer) {
  exchange.respond(answer.status, answer.type, answer.body);
}

void control_api::refuse_token(http::exchange& exchange, const api_client& client) {
  const bool has_other = exchange.request().header("authorization").has_value();
  facts_.log->write_few(
      "token", runtime::level::warning,
      fmt::format("{} was refused: its token is {}", client.text, has_other ? "wrong" : "missing"));
  exchange.respond(
      {.status = 401,
       .fields = {{"Content-Type", "application/json"}, {"WWW-Authenticate", "Bearer"}},
       .length = {}},
      dump(error_json("permission_denied", "the daemon does not accept the token",
                      "set the right one in STRATA_TOKEN, or send Authorization: Bearer TOKEN")));
}

control_api::answer control_api::refuse_role(const http::exchange& exchange,
                                             const api_client& client, const route_row& row,
                                             runtime::role role) {
  const auto needed = name_of(row.needed);
  facts_.log->write_few("role", runtime::level::warning,
                        fmt::format("{} was refused: {} {} needs the role '{}', it has '{}'",
                                    client.text, row.method, row.path, needed, name_of(role)));
  const auto remedy =
      client.listener == listener_kind::api
          ? fmt::format("use 'sudo strata', or run the daemon with --socket-role {}", needed)
          : fmt::format("use a token or a certificate with the role '{}'", needed);
  const auto& request = exchange.request();
  return {403, "application/json",
          dump(error_json("permission_denied",
                          fmt::format("cannot {} '{}': it needs the role '{}', and you have '{}'",
                                      request.method, request.path, needed, name_of(role)),
                          remedy))};
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
    exchange.respond(
        400, "application/json",
        dump(error_json("invalid_argument", "cannot decode the query", "write % as %25")));
    co_return;
  }
  if (closing_) {
    exchange.respond(503, "application/json",
                     dump(error_json("unavailable", "cannot serve: the daemon is stopping",
                                     "wait for the next daemon")));
    co_return;
  }
  co_await dispatch(exchange, client, *role);
}

control_api::destination control_api::find_route(const http::exchange& exchange,
                                                 listener_kind listener) {
  destination found;
  for (const auto& each : routes()) {
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
    exchange.respond(
        is_known ? 405 : 404, "application/json",
        dump(error_json(is_known ? "method_not_allowed" : "not_found", message, description_hint)));
    co_return;
  }
  const auto& route = *destination.served;
  if (role < route.row.needed) {
    respond(exchange, refuse_role(exchange, client, route.row, role));
    co_return;
  }
  result<feed_request> asked;
  if (route.find_feed != nullptr) asked = read_feed_request(request);
  if (!asked) {
    respond(exchange, as_answer(asked.error()));
    co_return;
  }
  if (route.find_feed == nullptr || (route.run != nullptr && !asked->follows)) {
    const auto reply = co_await run(exchange, client, destination);
    respond(exchange, reply);
    co_return;
  }
  const call feed_call{request, destination.name, {}, nullptr};
  auto found = (this->*route.find_feed)(feed_call);
  if (!found) {
    respond(exchange, as_answer(found.error()));
    co_return;
  }
  co_await stream_to(exchange, client, route.row, std::move(*found), *asked);
}

loop::task<control_api::answer> control_api::run(http::exchange& exchange, const api_client& client,
                                                 const destination& destination) {
  const auto& route = *destination.served;
  // Reading the metrics takes no body.
  auto body =
      co_await exchange.read_all(client.listener == listener_kind::metrics ? 0 : longest_body);
  if (!body) co_return as_answer(body.error());
  // A named variable, since GCC 12 destroys a braced temporary in a co_await twice.
  const call wanted{exchange.request(), destination.name, std::move(*body), route.operation};
  auto reply = co_await (this->*route.run)(wanted);
  if (route.row.is_change) {
    const bool is_done = reply.status < 300;
    facts_.log->write(runtime::level::info,
                      change_note(route.row, destination.name, wanted.body, client.text, is_done));
  }
  co_return reply;
}

control_api::answer control_api::as_answer(const error& failed) {
  return {status_of(failed), "application/json", dump(error_json(failed))};
}

control_api::answer control_api::as_answer(const result<entry_ref>& entry, int status) const {
  if (!entry) return as_answer(entry.error());
  return {status, "application/json",
          dump(detail_json(**entry, supervisor_.list(), supervisor_.home().now()))};
}

loop::task<control_api::answer> control_api::get_description(call /*of*/) {
  co_return answer{200, "application/yaml", openapi_text(route_rows())};
}

loop::task<control_api::answer> control_api::get_types(call /*call*/) {
  co_return answer{200, "application/json", dump(types_json())};
}

loop::task<control_api::answer> control_api::list(call /*of*/) {
  co_return answer{200, "application/json",
                   dump(list_json(supervisor_.list(), supervisor_.home().now()))};
}

loop::task<control_api::answer> control_api::create(call call) {
  auto body = parse_body(call.body);
  if (!body) co_return as_answer(body.error());
  auto type = text_at(*body, "type");
  if (!type) co_return as_answer(type.error());
  auto name = text_at(*body, "name");
  if (!name) co_return as_answer(name.error());
  const auto start = flag_at(*body, "start");
  if (!start) co_return as_answer(start.error());
  const auto is_rehearsal = flag_at(*body, "dry_run");
  if (!is_rehearsal) co_return as_answer(is_rehearsal.error());
  static constexpr std::string_view known[] = {"type", "name", "options", "start", "dry_run"};
  if (auto good = check_keys(*body, known); !good) co_return as_answer(good.error());
  creation ordered{.type = *type,
                   .name = *name,
                   .options = body->value("options", nlohmann::json::object()),
                   .is_started = *start,
                   .is_rehearsal = *is_rehearsal};
  auto made = co_await supervisor_.create(std::move(ordered));
  co_return as_answer(made, *is_rehearsal ? 200 : 201);
}

loop::task<control_api::answer> control_api::show(call call) {
  co_return as_answer(supervisor_.find(call.name), 200);
}

loop::task<control_api::answer> control_api::edit(call call) {
  auto body = parse_body(call.body);
  if (!body) co_return as_answer(body.error());
  static constexpr std::string_view known[] = {"options", "revision"};
  if (auto good = check_keys(*body, known); !good) co_return as_answer(good.error());
  const auto revision = revision_at(*body);
  if (!revision) co_return as_answer(revision.error());
  auto edited =
      co_await supervisor_.edit(call.name, body->value("options", nlohmann::json()), *revision);
  if (!edited) co_return as_answer(edited.error());
  co_return answer{200, "application/json",
                   dump({{"applied", edited->applied}, {"needs_restart", edited->needs_restart}})};
}

loop::task<control_api::answer> control_api::remove(call call) {
  const auto limit = limit_of(call, loop::time_point::max());
  if (!limit) co_return as_answer(limit.error());
  auto gone = co_await supervisor_.remove(call.name, *limit);
  if (!gone) co_return as_answer(gone.error());
  co_return answer{204, "application/json", {}};
}

loop::task<control_api::answer> control_api::start(call call) {
  auto done = co_await supervisor_.start(call.name);
  co_return as_answer(done, 200);
}

result<loop::time_point> control_api::limit_of(const call& call, loop::time_point usual) const {
  const auto asked = call.request.query_value("timeout");
  if (!asked) return usual;
  const auto seconds = options::parse_seconds(*asked);
  if (!seconds) return std::unexpected(seconds.error());
  return supervisor_.home().now() + loop::from_seconds(*seconds);
}

loop::task<control_api::answer> control_api::stop(call call) {
  const auto limit = limit_of(call, loop::time_point::max());
  if (!limit) co_return as_answer(limit.error());
  auto done = co_await supervisor_.stop(call.name, *limit);
  co_return as_answer(done, 200);
}

loop::task<control_api::answer> control_api::restart(call call) {
  const auto limit = limit_of(call, loop::time_point::max());
  if (!limit) co_return as_answer(limit.error());
  auto done = co_await supervisor_.restart(call.name, *limit);
  co_return as_answer(done, 200);
}

loop::task<control_api::answer> control_api::reload(call call) {
  auto done = co_await supervisor_.reload(call.name);
  co_return as_answer(done, 200);
}

result<runtime::operation_call> control_api::operation_call_of(call& call) const {
  const auto& row = *call.operation;
  runtime::operation_call asked{.body = std::move(call.body)};
  if (row.timeout_s > 0) {
    const auto limit = limit_of(call, supervisor_.home().now() + loop::from_seconds(row.timeout_s));
    if (!limit) return std::unexpected(limit.error());
    asked.limit = *limit;
  }
  auto parameters = read_query(call.request, row.parameters, row.name, row.timeout_s > 0);
  if (!parameters) return std::unexpected(parameters.error());
  asked.parameters = std::move(*parameters);
  return asked;
}

loop::task<control_api::answer> control_api::ask(call call) {
  auto asked = operation_call_of(call);
  if (!asked) co_return as_answer(asked.error());
  const auto given =
      co_await supervisor_.ask(call.name, std::string(call.operation->name), std::move(*asked));
  if (!given) co_return as_answer(given.error());
  if (call.operation->answer.empty()) co_return as_answer(supervisor_.find(call.name), 200);
  co_return answer{200, "application/json", dump(*given)};
}

}  // namespace strata::daemon
