#include "cli/daemon_client/control_client.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <nlohmann/json.hpp>

#include "cli/terminal/table.hpp"
#include "text/json_text.hpp"
#include "text/percent.hpp"

namespace strata::cli {

using nlohmann::json;

namespace {

constexpr std::size_t longest_answer = 256U << 20U;
/// Waits for bytes and feeds them to the parser. False when the peer has closed.
result<bool> receive(wire& from, proto::http_response_parser& parser) {
  auto got = from.receive();
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

outcome<proto::http_response_head> read_head(wire& from, proto::http_response_parser& parser,
                                             const std::string& socket) {
  while (parser.head() == nullptr) {
    if (auto more = receive(from, parser); !more) return refuse_reply(socket, more.error());
  }
  return *parser.head();
}

/// A connection that the daemon closed while it was idle is readable: at its end.
bool has_ended(int fd) {
  pollfd state{.fd = fd, .events = POLLIN | POLLRDHUP, .revents = 0};
  return ::poll(&state, 1, 0) != 0;
}

std::string request_text(std::string_view method, std::string_view target,
                         std::string_view content_type, std::string_view body) {
  proto::http_fields fields{{"Host", "strata"}};
  if (const auto token = token_of_environment(); !token.empty()) {
    fields.emplace_back("Authorization", "Bearer " + token);
  }
  if (!body.empty()) fields.emplace_back("Content-Type", content_type);
  return proto::http_request_text(method, target, fields, body);
}

/// "/v1/runtimes/NAME" of a target; nothing when it names none.
std::string runtime_part(const std::string& target) {
  constexpr std::string_view before = "/v1/runtimes/";
  if (!target.starts_with(before)) return {};
  return target.substr(0, target.find_first_of("/?", before.size()));
}

/// The owner that a request to create or edit names: a runtime too.
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
  return refuse(exit_failed, fmt::format("the daemon sent a line that is no JSON: '{}'",
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
    return refuse(exit_failed, "the daemon sent a line that has no end");
  }
  if (auto more = receive(*connection_, parser_); !more) {
    return refuse(exit_failed, fmt::format("{}; has the daemon ended?", describe(more.error())));
  }
  return {};
}

outcome<control_client::reply> control_client::exchange(const std::string& request) {
  if (connection_ && has_ended(connection_->fd())) connection_.reset();
  if (!connection_) {
    auto connected = connect_to_daemon(socket_);
    if (!connected) return std::unexpected(connected.error());
    connection_ = std::move(*connected);
  }
  auto connection = std::move(connection_);  // comes back when it can be used again
  connection->send(request);
  proto::http_response_parser parser;
  auto head = read_head(*connection, parser, socket_);
  if (!head) return std::unexpected(head.error());
  reply answer{.status = head->status, .body = parser.take_body()};
  bool open = true;
  while (!parser.done()) {
    auto more = receive(*connection, parser);
    if (!more) return refuse_reply(socket_, more.error());
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
    const bool absent = text_at(*failed, "code") == "not_found";
    return refuse(absent ? exit_not_found : exit_failed, text_at(*failed, "message"));
  }
  return refuse(exit_failed,
                fmt::format("the answer '{} {}' from {} is not what the API gives: '{}'",
                            answer.status, proto::http_reason(answer.status), socket_,
                            text::printable(std::string_view(answer.body).substr(0, 80))));
}

/// The API says not_found of a file or a host as well. Only the missing runtime has an exit code of
/// its own, so it is looked for.
bool control_client::lacks_runtime(std::string_view method, const std::string& target,
                                   const std::string& owner) {
  const auto is_missing = [&](const std::string& runtime) {
    const auto seen = exchange(request_text("GET", runtime, {}, {}));
    return seen && seen->status == 404;
  };
  const auto named = runtime_part(target);
  if (!named.empty() && (method == "GET" || is_missing(named))) return true;
  return !owner.empty() && is_missing(runtime_target(owner));
}

outcome<json> control_client::call_about(const std::string& owner, std::string_view method,
                                         const std::string& target, std::string_view content_type,
                                         std::string_view body) {
  auto answer = exchange(request_text(method, target, content_type, body));
  if (!answer) return std::unexpected(answer.error());
  auto value = read_answer(*answer);
  const bool is_absent = !value && value.error().exit == exit_not_found;
  if (is_absent && !lacks_runtime(method, target, owner)) value.error().exit = exit_failed;
  return value;
}

outcome<json> control_client::call(std::string_view method, const std::string& target,
                                   std::string_view content_type, std::string_view body) {
  return call_about({}, method, target, content_type, body);
}

outcome<json> control_client::get(const std::string& target) { return call("GET", target, {}, {}); }

outcome<json> control_client::remove(const std::string& target) {
  return call("DELETE", target, {}, {});
}

outcome<json> control_client::post(const std::string& target) {
  return call("POST", target, {}, {});
}

outcome<json> control_client::post(const std::string& target, const json& body) {
  const auto replace = json::error_handler_t::replace;  // arguments need not be UTF-8
  return call_about(owner_in(body), "POST", target, "application/json",
                    body.dump(-1, ' ', false, replace));
}

outcome<json> control_client::patch(const std::string& target, const json& body) {
  const auto replace = json::error_handler_t::replace;
  return call_about(owner_in(body), "PATCH", target, "application/json",
                    body.dump(-1, ' ', false, replace));
}

outcome<json> control_client::send(const std::string& name, std::string_view message) {
  return call("POST", runtime_target(name, "send"), "application/octet-stream", message);
}

outcome<line_stream> control_client::stream(const std::string& target) {
  auto connected = connect_to_daemon(socket_);
  if (!connected) return std::unexpected(connected.error());
  (*connected)->send(request_text("GET", target, {}, {}));
  proto::http_response_parser parser;
  auto head = read_head(**connected, parser, socket_);
  if (!head) return std::unexpected(head.error());
  if (head->status == 200) return line_stream(std::move(*connected), std::move(parser));
  reply answer{.status = head->status, .body = parser.take_body()};
  while (!parser.done() && answer.body.size() < longest_answer) {
    if (auto more = receive(**connected, parser); !more) break;
    answer.body += parser.take_body();
  }
  auto refused = read_answer(answer);
  if (!refused) return std::unexpected(refused.error());
  return refuse(exit_failed, fmt::format("the daemon answered '{} {}' where a stream was to come",
                                         answer.status, proto::http_reason(answer.status)));
}

std::string runtime_target(std::string_view name, std::string_view what) {
  auto target = "/v1/runtimes/" + text::percent_encode(name);
  if (!what.empty()) target += "/" + std::string(what);
  return target;
}

}  // namespace strata::cli
