#include "cli/daemon_client/control_client.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "cli/terminal/table.hpp"
#include "options/own_folder.hpp"
#include "text/json_text.hpp"
#include "text/percent.hpp"

namespace strata::cli {

using nlohmann::json;

namespace {

constexpr timeval connect_timeout{.tv_sec = 5, .tv_usec = 0};
constexpr std::size_t longest_answer = 256U << 20U;
constexpr std::string_view how_to_start =
    "start one with 'strata daemon &' or 'systemctl start strata', or name another with --socket";

std::string why_unreachable(const std::string& socket, int failed) {
  struct stat found{};
  const bool is_socket = ::stat(socket.c_str(), &found) == 0 && S_ISSOCK(found.st_mode);
  switch (failed) {
    case ENOENT: return fmt::format("there is no such socket; {}", how_to_start);
    case ECONNREFUSED:
      if (!is_socket) return "that is no socket; name the daemon's with --socket";
      return fmt::format("the socket is stale, its daemon has ended; {}", how_to_start);
    case EACCES:
    case EPERM:
      return "permission denied; use 'sudo strata', have the daemon run with --socket-group and a "
             "group of yours, or run a daemon of your own";
    case EAGAIN:
      return fmt::format("the daemon has accepted no connection for {} s; it is stopped or stuck",
                         connect_timeout.tv_sec);
    default: return std::strerror(failed);
  }
}

/// What is sent may be secret, and anybody may listen where no daemon does: so it goes only to a
/// process of root's or of our own user's, by a socket that nobody else could have put there.
outcome<> check_peer(int fd, const std::string& socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) {
    return refuse(exit_failed, system_error(errno, "ask who listens at " + socket));
  }
  if (peer.uid != 0 && peer.uid != ::geteuid()) {
    return refuse(exit_unreachable,
                  fmt::format("the process at {} is user {}'s, neither root's nor yours (user {}), "
                              "and was sent nothing; name your daemon's socket with --socket, or "
                              "use 'sudo -u \\#{} strata' if that user's daemon is what you want",
                              socket, peer.uid, ::geteuid(), peer.uid));
  }
  if (auto trusted = options::check_socket_folder(socket); !trusted) {
    return refuse(exit_unreachable, trusted.error());
  }
  return {};
}

outcome<unique_fd> connect_to(const std::string& socket) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket.empty()) {
    return refuse(exit_misused,
                  "there is no telling where the daemon's socket is, since this user has no home "
                  "folder; name it with --socket or in STRATA_SOCKET");
  }
  if (socket.size() >= sizeof address.sun_path) {
    return refuse(exit_misused,
                  fmt::format("the socket's path '{}' is not 1 to {} bytes long; name a shorter "
                              "one with --socket",
                              socket, sizeof address.sun_path - 1));
  }
  std::memcpy(address.sun_path, socket.data(), socket.size());
  unique_fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd) return refuse(exit_failed, system_error(errno, "make a socket"));
  // The timeout is for the connection alone: a daemon that drains may take its time to answer.
  ::setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &connect_timeout, sizeof connect_timeout);
  int failed = 0;
  do {
    const auto* generic = reinterpret_cast<const sockaddr*>(&address);
    failed = ::connect(fd.get(), generic, sizeof address) == 0 ? 0 : errno;
  } while (failed == EINTR);
  if (failed != 0) {
    return refuse(exit_unreachable, fmt::format("cannot reach the daemon at {}: {}", socket,
                                                why_unreachable(socket, failed)));
  }
  if (auto trusted = check_peer(fd.get(), socket); !trusted) {
    return std::unexpected(trusted.error());
  }
  constexpr timeval for_ever{};
  ::setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &for_ever, sizeof for_ever);
  return fd;
}

/// A daemon that refuses a long request may answer and close before it has read all of it: so what
/// cannot be sent is no failure as long as there is an answer.
void send_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto sent = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

/// Waits for bytes and feeds them to the parser. False when the peer has closed.
result<bool> receive(int fd, proto::http_response_parser& parser) {
  std::array<char, 65536> buffer;
  ssize_t got = 0;
  do {
    got = ::recv(fd, buffer.data(), buffer.size(), 0);
  } while (got < 0 && errno == EINTR);
  if (got < 0 && errno != ECONNRESET) {
    return std::unexpected(system_error(errno, "read the HTTP reply"));
  }
  const auto size = static_cast<std::size_t>(got < 0 ? 0 : got);
  auto taken = size == 0 ? parser.finish() : parser.feed(as_bytes({buffer.data(), size}));
  if (!taken) return std::unexpected(taken.error());
  return size != 0;
}

std::unexpected<refusal> refuse_reply(const std::string& socket, const error& why) {
  if (why.code == errc::connection_closed) {
    return refuse(exit_failed,
                  fmt::format("{}; has the daemon at {} ended?", describe(why), socket));
  }
  return refuse(exit_failed,
                fmt::format("{}; is {} the socket of a strata daemon?", describe(why), socket));
}

outcome<proto::http_response_head> read_head(int fd, proto::http_response_parser& parser,
                                             const std::string& socket) {
  while (parser.head() == nullptr) {
    if (auto more = receive(fd, parser); !more) return refuse_reply(socket, more.error());
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
  if (!body.empty()) fields.emplace_back("Content-Type", content_type);
  return proto::http_request_text(method, target, fields, body);
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

line_stream::line_stream(unique_fd connection, proto::http_response_parser parser)
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
  if (auto more = receive(fd(), parser_); !more) {
    return refuse(exit_failed, fmt::format("{}; has the daemon ended?", describe(more.error())));
  }
  return {};
}

outcome<control_client::reply> control_client::exchange(const std::string& request) {
  if (connection_ && has_ended(connection_.get())) connection_.reset();
  if (!connection_) {
    auto connected = connect_to(socket_);
    if (!connected) return std::unexpected(connected.error());
    connection_ = std::move(*connected);
  }
  unique_fd connection = std::move(connection_);  // comes back when it can be used again
  send_all(connection.get(), request);
  proto::http_response_parser parser;
  auto head = read_head(connection.get(), parser, socket_);
  if (!head) return std::unexpected(head.error());
  reply answer{.status = head->status, .body = parser.take_body()};
  bool open = true;
  while (!parser.done()) {
    auto more = receive(connection.get(), parser);
    if (!more) return refuse_reply(socket_, more.error());
    open = *more;
    answer.body += parser.take_body();
    if (answer.body.size() > longest_answer) {
      return refuse(exit_failed, "the daemon's answer is longer than 256 MiB");
    }
  }
  const auto closes = proto::find_field(head->headers, "connection") == "close";
  if (open && !closes) connection_ = std::move(connection);
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

outcome<json> control_client::call(std::string_view method, const std::string& target,
                                   std::string_view content_type, std::string_view body) {
  auto answer = exchange(request_text(method, target, content_type, body));
  if (!answer) return std::unexpected(answer.error());
  return read_answer(*answer);
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
  return call("POST", target, "application/json", body.dump(-1, ' ', false, replace));
}

outcome<json> control_client::patch(const std::string& target, const json& body) {
  const auto replace = json::error_handler_t::replace;
  return call("PATCH", target, "application/json", body.dump(-1, ' ', false, replace));
}

outcome<json> control_client::send(const std::string& name, std::string_view message) {
  return call("POST", runtime_target(name, "send"), "application/octet-stream", message);
}

outcome<line_stream> control_client::stream(const std::string& target) {
  auto connected = connect_to(socket_);
  if (!connected) return std::unexpected(connected.error());
  send_all(connected->get(), request_text("GET", target, {}, {}));
  proto::http_response_parser parser;
  auto head = read_head(connected->get(), parser, socket_);
  if (!head) return std::unexpected(head.error());
  if (head->status == 200) return line_stream(std::move(*connected), std::move(parser));
  reply answer{.status = head->status, .body = parser.take_body()};
  while (!parser.done() && answer.body.size() < longest_answer) {
    if (auto more = receive(connected->get(), parser); !more) break;
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
