#include "redis/address.hpp"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "net/scheme.hpp"
#include "text/percent.hpp"

namespace strata::redis {

namespace {

constexpr std::string_view default_port = "6379";

std::unexpected<error> not_an_address(std::string reason) {
  return failure(errc::invalid_argument, "read where the Redis server is", std::move(reason),
                 "write redis://127.0.0.1:6379/0, the name of a cache, or unix:///PATH");
}

result<void> read_user(std::string_view text, address& server) {
  const auto colon = text.find(':');
  const bool has_password = colon != std::string_view::npos;
  auto user = text::percent_decode(text.substr(0, colon), text::plus_sign::literal);
  auto password =
      text::percent_decode(has_password ? text.substr(colon + 1) : "", text::plus_sign::literal);
  if (!user || !password)
    return not_an_address("its user or password is not valid percent-encoded text");
  server.user = std::move(*user);
  server.password = std::move(*password);
  return {};
}

result<address> parse_redis_url(std::string_view rest, bool is_secure) {
  address server;
  if (const auto at = rest.rfind('@'); at != std::string_view::npos) {
    if (auto read = read_user(rest.substr(0, at), server); !read) {
      return std::unexpected(read.error());
    }
    rest.remove_prefix(at + 1);
  }
  const auto slash = rest.find('/');
  if (slash != std::string_view::npos && slash + 1 < rest.size()) {
    const auto number = rest.substr(slash + 1);
    const auto [end, code] =
        std::from_chars(number.data(), number.data() + number.size(), server.database);
    if (code != std::errc() || end != number.data() + number.size()) {
      return not_an_address(fmt::format("'{}' is not the number of a database", number));
    }
  }
  std::string host(rest.substr(0, slash));
  const auto bracket = host.rfind(']');
  const auto colon = host.rfind(':');
  const bool has_port =
      colon != std::string::npos && (bracket == std::string::npos || colon > bracket);
  if (!has_port) host += fmt::format(":{}", default_port);
  auto url = net::parse_connecting(fmt::format("{}://{}", is_secure ? "tls" : "tcp", host));
  if (!url) return not_an_address(fmt::format("'{}' is not HOST:PORT", host));
  server.url = std::move(*url);
  return server;
}

}  // namespace

result<address> parse_address(std::string_view text) {
  constexpr std::string_view plain = "redis://";
  constexpr std::string_view secure = "rediss://";
  if (text.starts_with(plain)) return parse_redis_url(text.substr(plain.size()), false);
  if (text.starts_with(secure)) return parse_redis_url(text.substr(secure.size()), true);
  const bool is_url = text.contains("://");
  auto url = net::parse_connecting(is_url ? std::string(text) : fmt::format("runtime://{}", text));
  if (!url) return std::unexpected(url.error());
  const bool is_name = url->scheme->form == net::url_form::name;
  if (!is_name && (!url->is_stream() || url->is_web())) {
    return not_an_address(fmt::format("{} is not a stream of bytes", url->text()));
  }
  return address{.url = std::move(*url)};
}

}  // namespace strata::redis
