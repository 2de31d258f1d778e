#include "runtime/program/probe.hpp"

#include <fmt/format.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include "loop/names/address.hpp"
#include "net/connector.hpp"
#include "strata/base/unique_fd.hpp"
#include "text/number.hpp"

namespace strata::runtime::program {

using namespace std::chrono_literals;

namespace {

constexpr auto patience = 1s;
constexpr auto look_interval = 50ms;
constexpr std::string_view version = "HTTP/1.1 ";

}  // namespace

loop::task<bool> answers(loop::loop& loop, std::string port, std::string path) {
  const auto url = net::parse_endpoint("tcp://127.0.0.1:" + port);
  if (!url) co_return false;
  net::connecting settings{.timeout = patience};
  auto opened = co_await net::connect(loop, *url, std::move(settings));
  if (!opened) co_return false;
  if (path.empty()) co_return true;
  auto& stream = *opened->bytes;
  const auto request =
      fmt::format("GET {} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", path);
  stream.push_copy(as_bytes(request));
  const auto limit = loop.now() + patience;
  std::string answer;
  while (answer.size() <= version.size()) {
    const auto piece = co_await stream.receive(limit);
    if (!piece || !*piece || (*piece)->empty()) co_return false;
    answer += as_text((*piece)->bytes());
  }
  const char first_digit = answer[version.size()];
  co_return answer.starts_with("HTTP/1.") && (first_digit == '2' || first_digit == '3');
}

result<bool> is_port_free(const std::string& port) {
  const auto number = text::number_in<std::uint16_t>(port).value_or(0);
  const auto address = loop::socket_address::from_ip("127.0.0.1", number);
  if (!address) return std::unexpected(address.error());
  const auto operation = "use port " + port;
  const unique_fd probe(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!probe) return system_failure(errno, operation);
  // Connections that have ended do not hold a port.
  const int is_reused = 1;
  ::setsockopt(probe.get(), SOL_SOCKET, SO_REUSEADDR, &is_reused, sizeof is_reused);
  if (::bind(probe.get(), address->data(), address->size()) == 0) return true;
  if (errno == EADDRINUSE) return false;
  return system_failure(errno, operation);
}

loop::task<bool> comes_to_answer(loop::loop& loop, std::string port, std::string path,
                                 loop::time_point limit, std::function<bool()> is_awaited) {
  for (;;) {
    const bool has_answered = co_await answers(loop, port, path);
    if (has_answered) co_return true;
    if (!is_awaited() || loop.now() >= limit) co_return false;
    co_await loop.sleep(look_interval);
  }
}

loop::task<bool> fails_checks(loop::loop& loop, const program_options& options,
                              std::function<loop::task<bool>()> check,
                              std::function<bool()> is_watched) {
  for (std::uint64_t failures = 0; failures < options.alive_limit;) {
    co_await loop.sleep(loop::from_seconds(options.alive_interval));
    if (!is_watched()) co_return false;
    const bool has_passed = co_await check();
    if (!is_watched()) co_return false;
    failures = has_passed ? 0 : failures + 1;
  }
  co_return true;
}

}  // namespace strata::runtime::program
