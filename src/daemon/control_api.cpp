#include "daemon/control_api.hpp"

#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <nlohmann/json.hpp>

#include "daemon/control_socket.hpp"
#include "daemon/render.hpp"
#include "text/json_text.hpp"

namespace strata::daemon {

using namespace std::chrono_literals;

namespace {

constexpr std::size_t most_behind = 8U << 20U;  // bytes that may wait for a follower
constexpr std::size_t most_unread = 1U << 20U;  // bytes of answers that may wait for who asks on

int status_of(const error& failed) {
  switch (failed.code) {
    case errc::invalid_argument:
    case errc::malformed: return 400;
    case errc::permission_denied: return 403;
    case errc::not_found: return 404;
    case errc::already_exists:
    case errc::conflict: return 409;
    // What the system has run out of is not the request's fault.
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

result<nlohmann::json> parse_body(const proto::http_request& request) {
  const std::string operation = "read the request's body";
  auto json = text::parse_json(request.body, operation);
  if (json && !json->is_object()) {
    return failure(errc::malformed, operation, "it is not a JSON object");
  }
  return json;
}

result<std::string> text_at(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string()) {
    return failure(errc::invalid_argument, "read the request",
                   "it has no text '" + std::string(key) + "'", "see docs/openapi.yaml");
  }
  return found->get<std::string>();
}

// HEAD is GET, answered with the head alone (RFC 9110 section 9.3.2).
std::string_view method_of(const proto::http_request& request) {
  return request.method == "HEAD" ? "GET" : std::string_view(request.method);
}

/// `/v1/runtimes/{}/start` against a path; the name lands in `*name`.
bool matches(std::string_view pattern, std::string_view path, std::string* name) {
  const auto hole = pattern.find("{}");
  if (hole == std::string_view::npos) return pattern == path;
  const auto before = pattern.substr(0, hole);
  const auto after = pattern.substr(hole + 2);
  if (!path.starts_with(before) || !path.ends_with(after)) return false;
  if (path.size() <= before.size() + after.size()) return false;
  const auto middle = path.substr(before.size(), path.size() - before.size() - after.size());
  if (middle.contains('/')) return false;
  *name = middle;
  return true;
}

}  // namespace

struct control_api::route {
  std::string_view method;
  std::string_view pattern;
  loop::task<answer> (control_api::*run)(call);
};

const control_api::route control_api::routes[] = {
    {"GET", "/v1/version", &control_api::get_version},
    {"GET", "/v1/runtimes", &control_api::list},
    {"POST", "/v1/runtimes", &control_api::create},
    {"GET", "/v1/runtimes/{}", &control_api::show},
    {"PATCH", "/v1/runtimes/{}", &control_api::edit},
    {"DELETE", "/v1/runtimes/{}", &control_api::remove},
    {"POST", "/v1/runtimes/{}/start", &control_api::start},
    {"POST", "/v1/runtimes/{}/stop", &control_api::stop},
    {"POST", "/v1/runtimes/{}/restart", &control_api::restart},
    {"POST", "/v1/runtimes/{}/reload", &control_api::reload},
    {"POST", "/v1/runtimes/{}/send", &control_api::send},
    {"GET", "/v1/runtimes/{}/stats", &control_api::stats},
    {"GET", "/metrics", &control_api::metrics},
};

control_api::control_api(registry& runtimes, runtime::loop_source& loops, facts about)
    : registry_(runtimes), loops_(loops), facts_(std::move(about)) {}

control_api::~control_api() { stop(); }

void control_api::stop() {
  tasks_.cancel();
  file_.remove();
  doors_.clear();
}

result<void> control_api::listen(const std::string& path, std::optional<gid_t> group) {
  auto address = loop::socket_address::from_path(path);
  if (!address) return std::unexpected(address.error());
  // From bind on nobody else may connect.
  const auto before = ::umask(0177);
  auto listening = registry_.home().listen(*address, {});
  ::umask(before);
  if (!listening) return std::unexpected(listening.error());
  file_ = loop::socket_file(path);
  group_ = group;
  if (group) {
    if (auto admitted = admit_group(path, *group); !admitted) return admitted;
  }
  doors_.emplace_back(registry_.home(), std::move(*listening), false);
  return {};
}

result<void> control_api::listen_metrics(const loop::socket_address& address) {
  auto listening = registry_.home().listen(address, {});
  if (!listening) return std::unexpected(listening.error());
  doors_.emplace_back(registry_.home(), std::move(*listening), true);
  return {};
}

void control_api::serve() {
  for (auto& each : doors_) tasks_.spawn(accept_all(each.listener, each.only_metrics));
}

loop::task<> control_api::accept_all(net::listener& from, bool only_metrics) {
  for (;;) {
    auto connection = co_await from.accept();
    if (connection) {
      tasks_.spawn(serve(std::move(*connection), only_metrics));
    } else {
      spdlog::error("control API: {}", describe(connection.error()));
      co_await registry_.home().sleep(100ms);
    }
  }
}

// The socket's mode keeps strangers out; this is the second lock, should the mode be changed.
bool control_api::is_trusted(const loop::socket& peer) const {
  ucred who{};
  socklen_t size = sizeof who;
  if (::getsockopt(peer.fd(), SOL_SOCKET, SO_PEERCRED, &who, &size) != 0) return false;
  if (who.uid == 0 || who.uid == ::geteuid()) return true;
  if (!group_) return false;
  if (who.gid == *group_) return true;
  std::vector<gid_t> groups(1024);
  size = static_cast<socklen_t>(groups.size() * sizeof(gid_t));
  if (::getsockopt(peer.fd(), SOL_SOCKET, SO_PEERGROUPS, groups.data(), &size) != 0) return false;
  groups.resize(size / sizeof(gid_t));
  return std::ranges::find(groups, *group_) != groups.end();
}

loop::task<> control_api::serve(loop::socket connection, bool only_metrics) {
  if (!only_metrics && !is_trusted(connection)) {
    spdlog::warn("control API: a process of another user and group was refused");
    co_return;
  }
  const auto made = net::stream::over(registry_.home(), std::move(connection));
  auto& wire = *made;
  proto::http_request_parser parser;
  bool open = true;
  while (open) {
    auto got = co_await wire.receive();
    if (!got || got->empty()) break;
    auto parsed = parser.feed(got->bytes());
    while (open && parsed && *parsed) {
      open = co_await handle(**parsed, wire, only_metrics) && co_await settle(wire, most_unread);
      if (open) parsed = parser.next();
    }
    if (parser.take_continue()) wire.push_copy(as_bytes(proto::http_continue));
    if (!parsed) {
      const auto& why = parsed.error();
      const auto body = dump(error_json(name_of(why.code), describe(why), why.remedy));
      wire.push_copy(
          as_bytes(proto::http_response(parser.refusal_status(), "application/json", body, false)));
      open = false;
    }
  }
  (void)co_await settle(wire, 0);
}

loop::task<bool> control_api::settle(net::stream& wire, std::size_t left) {
  const bool has_room = co_await wire.writable(left, registry_.home().now() + 5s);
  co_return has_room&& wire.broken() == 0;
}

void control_api::respond(const proto::http_request& to, const answer& with, net::stream& wire) {
  auto text = proto::http_response(with.status, with.type, with.body, to.keep_alive);
  if (to.method == "HEAD") text.resize(text.find("\r\n\r\n") + 4);
  wire.push_copy(as_bytes(text));
}

loop::task<bool> control_api::handle(const proto::http_request& request, net::stream& wire,
                                     bool only_metrics) {
  if (!only_metrics && method_of(request) == "GET" && !closing_) {
    auto found = feed_for(request.path);
    if (found && found->of != nullptr) co_return co_await stream(request, *found, wire);
  }
  const auto reply = co_await dispatch(request, only_metrics);
  respond(request, reply, wire);
  co_return request.keep_alive;
}

loop::task<control_api::answer> control_api::dispatch(const proto::http_request& request,
                                                      bool only_metrics) {
  if (closing_) {
    co_return answer{503, "application/json",
                     dump(error_json("unavailable", "cannot serve: the daemon is stopping",
                                     "wait for the next one"))};
  }
  bool path_known = false;
  for (const auto& each : routes) {
    std::string name;
    if (only_metrics && each.pattern != "/metrics") continue;
    if (!matches(each.pattern, request.path, &name)) continue;
    path_known = true;
    if (each.method != method_of(request)) continue;
    // Named, since GCC 12 destroys a braced temporary in a co_await twice.
    const call wanted{request, name};
    co_return co_await (this->*each.run)(wanted);
  }
  if (auto found = feed_for(request.path); !found) co_return as_answer(found.error());
  const int status = path_known ? 405 : 404;
  const auto message = path_known ? "cannot " + request.method + " '" + request.path + "'"
                                  : "cannot find '" + request.path + "'";
  co_return answer{status, "application/json",
                   dump(error_json(path_known ? "method_not_allowed" : "not_found", message,
                                   "see docs/openapi.yaml"))};
}

control_api::answer control_api::as_answer(const error& failed) {
  return {status_of(failed), "application/json",
          dump(error_json(name_of(failed.code), describe(failed), failed.remedy))};
}

control_api::answer control_api::as_answer(const result<entry_ref>& done, int status) const {
  if (!done) return as_answer(done.error());
  return {status, "application/json", dump(detail_json(**done, registry_, registry_.home().now()))};
}

loop::task<control_api::answer> control_api::get_version(call /*of*/) {
  const auto up = registry_.home().now() - facts_.started;
  co_return answer{200, "application/json",
                   dump({{"version", facts_.version},
                         {"api", "1"},
                         {"pid", ::getpid()},
                         {"loop", facts_.loop},
                         {"loops", loops_.size()},
                         {"state_dir", registry_.state_folder()},
                         {"uptime_s", std::chrono::duration<double>(up).count()}})};
}

loop::task<control_api::answer> control_api::list(call /*of*/) {
  auto all = nlohmann::json::array();
  for (const auto& [name, each] : registry_.all()) {
    all.push_back(summary_json(*each, registry_.home().now()));
  }
  co_return answer{200, "application/json", dump(all)};
}

loop::task<control_api::answer> control_api::create(call of) {
  auto body = parse_body(of.request);
  if (!body) co_return as_answer(body.error());
  auto type = text_at(*body, "type");
  if (!type) co_return as_answer(type.error());
  auto name = text_at(*body, "name");
  if (!name) co_return as_answer(name.error());
  const auto start = body->value("start", nlohmann::json(false));
  if (!start.is_boolean()) {
    co_return as_answer(error{.code = errc::invalid_argument,
                              .operation = "read the request",
                              .reason = "'start' is neither true nor false",
                              .remedy = {},
                              .offset = {}});
  }
  auto made = co_await registry_.create(
      *type, *name, body->value("options", nlohmann::json::object()), start.get<bool>());
  co_return as_answer(made, 201);
}

loop::task<control_api::answer> control_api::show(call of) {
  co_return as_answer(registry_.find(of.name), 200);
}

loop::task<control_api::answer> control_api::edit(call of) {
  auto body = parse_body(of.request);
  if (!body) co_return as_answer(body.error());
  auto edited = co_await registry_.edit(of.name, body->value("options", nlohmann::json()));
  if (!edited) co_return as_answer(edited.error());
  co_return answer{200, "application/json",
                   dump({{"applied", edited->applied}, {"needs_restart", edited->needs_restart}})};
}

loop::task<control_api::answer> control_api::remove(call of) {
  auto gone = co_await registry_.remove(of.name);
  if (!gone) co_return as_answer(gone.error());
  co_return answer{204, "application/json", {}};
}

loop::task<control_api::answer> control_api::start(call of) {
  auto done = co_await registry_.start(of.name);
  co_return as_answer(done, 200);
}

loop::task<control_api::answer> control_api::stop(call of) {
  auto done = co_await registry_.stop(of.name);
  co_return as_answer(done, 200);
}

loop::task<control_api::answer> control_api::restart(call of) {
  auto done = co_await registry_.restart(of.name);
  co_return as_answer(done, 200);
}

loop::task<control_api::answer> control_api::reload(call of) {
  auto done = co_await registry_.reload(of.name);
  co_return as_answer(done, 200);
}

loop::task<control_api::answer> control_api::send(call of) {
  auto sent = co_await registry_.send(of.name, of.request.body);
  if (!sent) co_return as_answer(sent.error());
  co_return answer{200, "application/json",
                   dump({{"delivered", sent->delivered}, {"queued", sent->queued}})};
}

loop::task<control_api::answer> control_api::stats(call of) {
  auto found = registry_.find(of.name);
  if (!found) co_return as_answer(found.error());
  co_return answer{200, "application/json", dump(stats_json(**found, registry_.home().now()))};
}

loop::task<control_api::answer> control_api::metrics(call /*of*/) {
  co_return answer{200, "text/plain; version=0.0.4", metrics_text(registry_)};
}

result<control_api::feed> control_api::feed_for(const std::string& path) const {
  std::string name;
  if (path == "/v1/events") {
    return feed{.keeps = {}, .of = &registry_.events(), .line = event_json};
  }
  const bool messages = matches("/v1/runtimes/{}/messages", path, &name);
  if (!messages && !matches("/v1/runtimes/{}/logs", path, &name)) return feed{};
  auto found = registry_.find(name);
  if (!found) return std::unexpected(found.error());
  auto journal = messages ? (*found)->messages : (*found)->log;
  return feed{.keeps = journal,
              .of = journal.get(),
              .line = messages ? message_json : log_line_json,
              .always_follows = messages};
}

loop::task<bool> control_api::stream(const proto::http_request& request, const feed& from,
                                     net::stream& wire) {
  std::size_t tail = 1000;
  if (const auto asked = request.query_value("tail")) {
    const auto* const end = asked->data() + asked->size();
    const auto [rest, code] = std::from_chars(asked->data(), end, tail);
    if (code != std::errc{} || rest != end) {
      const answer refused{
          400, "application/json",
          dump(error_json("invalid_argument", "cannot read 'tail' as a number", ""))};
      respond(request, refused, wire);
      co_return request.keep_alive;
    }
  }
  const auto follow = request.query_value("follow");
  const bool follows = from.always_follows || follow == "true" || follow == "1";
  auto text = proto::http_stream_head(200, "application/x-ndjson");
  if (request.method == "HEAD") {
    wire.push_copy(as_bytes(text));
    co_return request.keep_alive;
  }
  for (const auto& line : from.of->last(tail)) text += proto::http_chunk(from.line(line));
  if (!follows) text += proto::http_last_chunk();
  wire.push_copy(as_bytes(text));
  if (!follows) co_return request.keep_alive;
  const auto following = from.of->follow(
      registry_.home(),
      [&wire, write = from.line](const runtime::journal_line& line) {
        if (wire.unsent() > most_behind) {
          wire.abort();
          return;
        }
        wire.push_copy(as_bytes(proto::http_chunk(write(line))));
      },
      [&wire] { wire.push_copy(as_bytes(proto::http_last_chunk())); });
  // Nothing more is expected from the client but its end.
  for (;;) {
    auto got = co_await wire.receive();
    if (!got || got->empty()) co_return false;
  }
}

}  // namespace strata::daemon
