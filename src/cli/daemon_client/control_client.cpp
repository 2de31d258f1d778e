#include "cli/daemon_client/control_client.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "cli/daemon_client/cluster.hpp"
#include "cli/daemon_client/silence.hpp"
#include "cli/terminal/table.hpp"
#include "net/tls/digest.hpp"
#include "proto/websocket/websocket_handshake.hpp"
#include "runtime/types/types.hpp"
#include "text/json_text.hpp"
#include "text/percent.hpp"

namespace strata::cli {

using nlohmann::json;
using std::chrono::milliseconds;

namespace {

constexpr std::size_t longest_answer = 256U << 20U;

/// Waits for bytes and feeds them to the parser. Returns false if the peer has closed.
result<bool> feed_from(wire& wire, proto::http_response_parser& parser) {
  auto got = wire.receive();
  if (!got) return std::unexpected(got.error());
  auto taken = got->empty() ? parser.finish() : parser.feed(as_bytes(*got));
  if (!taken) return std::unexpected(taken.error());
  return !got->empty();
}

std::unexpected<refusal> refuse_reply(const std::string& socket, const error& why) {
  if (why.code == errc::connection_closed) {
    return refuse(exit_failed,
                  fmt::format("{}; has the daemon at {} ended?", describe(why), socket));
  }
  return refuse(exit_failed,
                fmt::format("{}; is {} the socket of a strata daemon?", describe(why), socket));
}

/// How long to wait for an answer.
class waiting_time {
 public:
  explicit waiting_time(milliseconds limit) : limit_(limit) {}

  [[nodiscard]] bool is_over() const { return is_limited() && clock::now() >= end_; }
  /// In the form that a wire takes.
  [[nodiscard]] milliseconds left() const {
    if (!is_limited()) return {};
    return std::max(std::chrono::ceil<milliseconds>(end_ - clock::now()), milliseconds(1));
  }
  void begin_again() { end_ = clock::now() + limit_; }

 private:
  using clock = std::chrono::steady_clock;

  [[nodiscard]] bool is_limited() const { return limit_ != milliseconds::zero(); }

  milliseconds limit_;
  clock::time_point end_ = clock::now() + limit_;
};

/// A connection that the daemon closed while it was idle is readable: its end is.
bool has_ended(int fd) {
  pollfd state{.fd = fd, .events = POLLIN | POLLRDHUP, .revents = 0};
  return ::poll(&state, 1, 0) != 0;
}

/// The exit code for the code of a refusal.
exit_code exit_of(const std::string& code) {
  if (code == name_of(errc::not_found)) return exit_not_found;
  return code == name_of(errc::invalid_argument) ? exit_misused : exit_failed;
}

/// "/v1/runtimes/NAME" of a target; empty if it names no runtime.
std::string runtime_part(const std::string& target) {
  constexpr std::string_view before = "/v1/runtimes/";
  if (!target.starts_with(before)) return {};
  return target.substr(0, target.find_first_of("/?", before.size()));
}

// Arguments may not be UTF-8.
std::string body_text(const json& body) {
  return body.dump(-1, ' ', false, json::error_handler_t::replace);
}

/// The owner that a request to create or edit names: it is a runtime too.
std::string owner_in(const json& body) {
  return body.is_object() ? text_at(body.value("options", json()), "owner") : std::string();
}

}  // namespace

std::optional<json> parse_json(std::string_view text) {
  auto value = text::parse_json(text, "read the daemon's answer");
  if (!value) return std::nullopt;
  return std::move(*value);
}

outcome<json> parse_line_of_json(std::string_view line) {
  auto value = parse_json(line);
  if (value) return std::move(*value);
  return refuse(exit_failed, fmt::format("the daemon sent a line that is not JSON: '{}'",
                                         text::printable(line.substr(0, 80))));
}

line_stream::line_stream(std::unique_ptr<wire> connection, proto::http_response_parser parser)
    : connection_(std::move(connection)), parser_(std::move(parser)) {}

std::vector<std::string> line_stream::take_lines() {
  auto lines = lines_.feed(parser_.take_body());
  if (ended()) {
    for (auto& last : lines_.finish()) lines.push_back(std::move(last));
  }
  return lines;
}

outcome<> line_stream::wait() {
  if (lines_.unfinished() > longest_answer) {
    return refuse(exit_failed, "the daemon sent a line that does not end");
  }
  if (auto more = feed_from(*connection_, parser_); !more) {
    return refuse(exit_failed, fmt::format("{}; has the daemon ended?", describe(more.error())));
  }
  return {};
}

std::string control_client::request::text(bool has_token) const {
  proto::http_fields all{{"Host", "strata"}};
  if (const auto token = token_of_environment(); has_token && !token.empty()) {
    all.emplace_back("Authorization", "Bearer " + token);
  }
  if (!body.empty()) all.emplace_back("Content-Type", content_type);
  all.insert(all.end(), fields.begin(), fields.end());
  return proto::http_request_text(method, target, all, body);
}

std::string control_client::request::name() const {
  return fmt::format("{} {}", method, target.substr(0, target.find('?')));
}

bool control_client::is_answering() const {
  const auto answer = control_client(daemon_).get("/v1/version");
  return answer || answer.error().exit != exit_unreachable;
}

outcome<> control_client::send_and_await_head(wire& wire, const request& request,
                                              proto::http_response_parser& parser) const {
  waiting_time time(daemon_.timeout);
  wire.wait_at_most(daemon_.timeout);
  if (!wire.send(request.text(!daemon_.is_found))) {
    return std::unexpected(silent_daemon(wire.fd(), daemon_, request.name()));
  }
  while (parser.head() == nullptr) {
    wire.wait_at_most(time.left());
    const auto more = feed_from(wire, parser);
    if (!more && more.error().code != errc::timed_out) {
      return refuse_reply(daemon_.socket, more.error());
    }
    if (parser.head() != nullptr || !time.is_over()) continue;
    if (request.method == "GET" || !is_answering()) {
      return std::unexpected(silent_daemon(wire.fd(), daemon_, request.name()));
    }
    time.begin_again();
  }
  wire.wait_at_most(daemon_.timeout);
  return {};
}

/// Receives more of the answer's body. Returns false at the end of the connection.
outcome<bool> control_client::receive(wire& wire, const request& request,
                                      proto::http_response_parser& parser) const {
  const auto more = feed_from(wire, parser);
  if (more) return *more;
  if (more.error().code != errc::timed_out) return refuse_reply(daemon_.socket, more.error());
  return std::unexpected(silent_daemon(wire.fd(), daemon_, request.name()));
}

outcome<std::unique_ptr<wire>> control_client::connect() {
  if (!daemon_.other.empty()) {
    auto found = find_in_cluster(daemon_);
    if (!found) return std::unexpected(found.error());
    daemon_ = std::move(*found);
  }
  return connect_to_daemon(daemon_);
}

outcome<control_client::reply> control_client::exchange(const request& request) {
  if (connection_ && has_ended(connection_->fd())) connection_.reset();
  if (!connection_) {
    auto connected = connect();
    if (!connected) return std::unexpected(connected.error());
    connection_ = std::move(*connected);
  }
  auto connection = std::move(connection_);  // put back when it can be used again
  proto::http_response_parser parser;
  if (auto answered = send_and_await_head(*connection, request, parser); !answered) {
    return std::unexpected(answered.error());
  }
  reply answer{.status = parser.head()->status, .body = parser.take_body()};
  bool open = true;
  while (!parser.done()) {
    auto more = receive(*connection, request, parser);
    if (!more) return std::unexpected(more.error());
    open = *more;
    answer.body += parser.take_body();
    if (answer.body.size() > longest_answer) {
      return refuse(exit_failed, "the daemon's answer is longer than 256 MiB");
    }
  }
  if (open && parser.keep_alive()) connection_ = std::move(connection);
  return answer;
}

outcome<json> control_client::read_answer(const reply& answer) const {
  const bool good = answer.status / 100 == 2;
  if (good && answer.body.empty()) return json{};
  auto value = parse_json(answer.body);
  if (good && value) return std::move(*value);
  const auto* failed =
      value && value->is_object() && value->contains("error") ? &value->at("error") : nullptr;
  if (!good && failed != nullptr && !text_at(*failed, "message").empty()) {
    const auto remedy = text_at(*failed, "remedy");
    return refuse(exit_of(text_at(*failed, "code")),
                  text_at(*failed, "message") + (remedy.empty() ? "" : "; " + remedy));
  }
  return refuse(exit_failed,
                fmt::format("unexpected answer '{} {}' from {}: '{}'", answer.status,
                            proto::http_reason(answer.status), daemon_.socket,
                            text::printable(std::string_view(answer.body).substr(0, 80))));
}

bool control_client::is_missing(const std::string& runtime) {
  const auto seen = exchange({.method = "GET", .target = runtime});
  return seen && seen->status == 404;
}

/// The API answers not_found for a file or a host too. Only a missing runtime has an exit code of
/// its own, so this checks whether it is missing.
bool control_client::lacks_runtime(const request& request, const std::string& owner) {
  const auto named = runtime_part(request.target);
  if (!named.empty() && (request.method == "GET" || is_missing(named))) return true;
  return !owner.empty() && is_missing(runtime_target(owner));
}

outcome<json> control_client::call(const request& request, const std::string& owner) {
  auto answer = exchange(request);
  if (!answer) return std::unexpected(answer.error());
  auto value = read_answer(*answer);
  const bool is_absent = !value && value.error().exit == exit_not_found;
  if (is_absent && !lacks_runtime(request, owner)) value.error().exit = exit_failed;
  // A request without a body has nothing that could be invalid: a stored value is at fault then.
  const bool is_misused = !value && value.error().exit == exit_misused;
  if (is_misused && request.body.empty()) value.error().exit = exit_failed;
  return value;
}

outcome<json> control_client::get(const std::string& target) {
  return call({.method = "GET", .target = target});
}

outcome<json> control_client::remove(const std::string& target) {
  return call({.method = "DELETE", .target = target});
}

outcome<json> control_client::post(const std::string& target) {
  return call({.method = "POST", .target = target});
}

outcome<json> control_client::post(const std::string& target, const json& body) {
  const auto text = body_text(body);
  return call(
      {.method = "POST", .target = target, .content_type = "application/json", .body = text},
      owner_in(body));
}

outcome<json> control_client::patch(const std::string& target, const json& body) {
  const auto text = body_text(body);
  return call(
      {.method = "PATCH", .target = target, .content_type = "application/json", .body = text},
      owner_in(body));
}

outcome<json> control_client::ask(const std::string& name, std::string_view operation,
                                  std::string_view body, const json& parameters) {
  const auto* const known = runtime::find_shared_operation(operation);
  if (known == nullptr) {
    return refuse(exit_misused, fmt::format("no type has an operation '{}'", operation));
  }
  auto target = runtime_target(name, operation);
  char separator = '?';
  for (const auto& [key, value] : parameters.items()) {
    const auto text = value.is_string() ? value.get<std::string>() : value.dump();
    target += separator + key + "=" + text::percent_encode(text);
    separator = '&';
  }
  return call({.method = known->row->method,
               .target = std::move(target),
               .content_type = known->row->body_type,
               .body = body});
}

outcome<line_stream> control_client::stream(const std::string& target) {
  auto connected = connect();
  if (!connected) return std::unexpected(connected.error());
  const request asked{.method = "GET", .target = target};
  proto::http_response_parser parser;
  if (auto answered = send_and_await_head(**connected, asked, parser); !answered) {
    return std::unexpected(answered.error());
  }
  const auto status = parser.head()->status;
  if (status == 200) {
    (*connected)->wait_at_most({});
    return line_stream(std::move(*connected), std::move(parser));
  }
  return std::unexpected(refusal_of(**connected, parser));
}

refusal control_client::refusal_of(wire& wire, proto::http_response_parser& parser) const {
  reply answer{.status = parser.head()->status, .body = parser.take_body()};
  while (!parser.done() && answer.body.size() < longest_answer) {
    if (auto more = feed_from(wire, parser); !more) break;
    answer.body += parser.take_body();
  }
  auto refused = read_answer(answer);
  if (!refused) return refused.error();
  return {exit_failed, fmt::format("the daemon answered '{} {}' instead of a stream", answer.status,
                                   proto::http_reason(answer.status))};
}

outcome<session_stream> control_client::open_session(const std::string& target) {
  auto connected = connect();
  if (!connected) return std::unexpected(connected.error());
  const auto key = new_websocket_key();
  const request asked{.method = "GET",
                      .target = target,
                      .fields = {{"Upgrade", "websocket"},
                                 {"Connection", "Upgrade"},
                                 {"Sec-WebSocket-Key", key},
                                 {"Sec-WebSocket-Version", std::string(proto::websocket_version)}}};
  proto::http_response_parser parser;
  if (auto answered = send_and_await_head(**connected, asked, parser); !answered) {
    return std::unexpected(answered.error());
  }
  if (parser.head()->status != 101) {
    auto refused = refusal_of(**connected, parser);
    const bool is_absent = refused.exit == exit_not_found && is_missing(runtime_part(target));
    if (refused.exit == exit_not_found && !is_absent) refused.exit = exit_failed;
    return std::unexpected(std::move(refused));
  }
  const auto hashed = proto::websocket_accept_text(key);
  const auto accept = proto::websocket_accept(net::sha1(as_bytes(hashed)));
  if (auto agreed = proto::read_websocket_response(*parser.head(), accept); !agreed) {
    return refuse_reply(daemon_.socket, agreed.error());
  }
  (*connected)->wait_at_most({});
  return session_stream(std::move(*connected), parser.take_rest());
}

std::string runtime_target(std::string_view name, std::string_view text) {
  auto target = "/v1/runtimes/" + text::percent_encode(name);
  if (!text.empty()) target += "/" + std::string(text);
  return target;
}

}  // namespace strata::cli
