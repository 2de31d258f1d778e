#include "runtime/scripting/redis_place.hpp"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "net/scheme.hpp"
#include "text/percent.hpp"

namespace strata::runtime::scripting {

namespace {

constexpr std::string_view usual_port = "6379";

std::unexpected<error> no_place(std::string why) {
  return failure(errc::invalid_argument, "read where the Redis server is", std::move(why),
                 "write redis://127.0.0.1:6379/0, the name of a cache, or unix:///PATH");
}

result<void> read_user(std::string_view text, redis_place& place) {
  const auto colon = text.find(':');
  const bool has_password = colon != std::string_view::npos;
  auto user = text::percent_decode(text.substr(0, colon), text::plus_sign::literal);
  auto password =
      text::percent_decode(has_password ? text.substr(colon + 1) : "", text::plus_sign::literal);
  if (!user || !password) return no_place("its user or password is not valid percent-encoded text");
  place.user = std::move(*user);
  place.password = std::move(*password);
  return {};
}

result<redis_place> parse_redis_url(std::string_view rest, bool is_secure) {
  redis_place made;
  if (const auto at = rest.rfind('@'); at != std::string_view::npos) {
    if (auto read = read_user(rest.substr(0, at), made); !read) {
      return std::unexpected(read.error());
    }
    rest.remove_prefix(at + 1);
  }
  const auto slash = rest.find('/');
  if (slash != std::string_view::npos && slash + 1 < rest.size()) {
    const auto number = rest.substr(slash + 1);
    const auto [end, code] =
        std::from_chars(number.data(), number.data() + number.size(), made.database);
    if (code != std::errc() || end != number.data() + number.size()) {
      return no_place(fmt::format("'{}' is not the number of a database", number));
    }
  }
  std::string host(rest.substr(0, slash));
  const auto bracket = host.rfind(']');
  const auto colon = host.rfind(':');
  const bool has_port =
      colon != std::string::npos && (bracket == std::string::npos || colon > bracket);
  if (!has_port) host += fmt::format(":{}", usual_port);
  auto url = net::parse_connecting(fmt::format("{}://{}", is_secure ? "tls" : "tcp", host));
  if (!url) return no_place(fmt::format("'{}' is not HOST:PORT", host));
  made.url = std::move(*url);
  return made;
}

}  // namespace

result<redis_place> parse_redis_place(std::string_view text) {
  constexpr std::string_view plain = "redis://";
  constexpr std::string_view secure = "rediss://";
  if (text.starts_with(plain)) return parse_redis_url(text.substr(plain.size()), false);
  if (text.starts_with(secure)) return parse_redis_url(text.substr(secure.size()), true);
  const bool is_url = text.contains("://");
  auto url = net::parse_connecting(is_url ? std::string(text) : fmt::format("runtime://{}", text));
  if (!url) return std::unexpected(url.error());
  const bool is_name = url->scheme->form == net::url_form::name;
  if (!is_name && (!url->is_stream() || url->is_web())) {
    return no_place(fmt::format("{} is not a stream of bytes", url->text()));
  }
  return redis_place{.url = std::move(*url)};
}

}  // namespace strata::runtime::scripting
