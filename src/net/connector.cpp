#include "net/connector.hpp"

#include "loop/within.hpp"

namespace strata::net {

result<loop::socket_address> address_of(const endpoint_url& url) {
  if (url.is_everywhere()) return loop::socket_address::every(url.port);
  return loop::socket_address::from_ip(url.host, url.port);
}

loop::task<result<std::vector<loop::socket_address>>> find_addresses(loop::loop& loop,
                                                                     endpoint_url url) {
  switch (url.scheme->form) {
    case url_form::path: {
      auto address = loop::socket_address::from_path(url.path);
      if (!address) co_return std::unexpected(address.error());
      co_return std::vector{*address};
    }
    case url_form::interface:
    case url_form::queue: co_return std::vector{loop::socket_address{}};
    case url_form::name: co_return std::vector<loop::socket_address>{};
    case url_form::host_and_port:
    case url_form::web: break;
  }
  if (url.is_everywhere()) co_return std::vector{loop::socket_address::every(url.port)};
  co_return co_await loop.resolve(url.host, url.port);
}

namespace {

loop::time_point limit_of(const loop::loop& loop, loop::duration timeout) {
  return timeout == loop::duration::zero() ? loop::time_point::max() : loop.now() + timeout;
}

loop::task<result<connection>> connect_by_name(loop::loop& loop, endpoint_url url,
                                               connecting connecting) {
  auto* const names = std::exchange(connecting.names, nullptr);
  if (names == nullptr) {
    co_return failure(errc::not_supported, "connect to " + url.text(),
                      "only runtimes of the daemon find each other by name", "give its address");
  }
  auto found = co_await loop::within(loop, names->find_endpoints(loop, url.host),
                                     limit_of(loop, connecting.timeout));
  if (!found) {
    co_return failure(errc::timed_out, "find runtime '" + url.host + "'",
                      "its address is not known yet", "try again");
  }
  if (!*found) co_return std::unexpected(found->error());
  result<connection> last = failure(errc::not_found, "connect to " + url.text(), "it is nowhere");
  for (const auto& each : **found) {
    last = co_await connect(loop, each, connecting);
    if (last) break;
  }
  co_return last;
}

// Makes one attempt at one address.
loop::task<result<connection>> connect_at(loop::loop& loop, const endpoint_url& url,
                                          loop::socket_address address,
                                          const connecting& connecting) {
  const auto limit = limit_of(loop, connecting.timeout);
  auto made = co_await url.scheme->connect(loop, url, address, limit);
  if (!made) co_return made;
  if (made->bytes) made->bytes->push_copy(as_bytes(connecting.preface));
  if (!url.scheme->is_secure) co_return made;
  auto secure = connecting.secure;
  if (!secure) {
    auto by_default = tls_context::for_client({});
    if (!by_default) co_return std::unexpected(by_default.error());
    secure = std::move(*by_default);
  }
  // TLS starts on a stream that has nothing unsent.
  const bool is_sent = co_await made->bytes->flushed(limit);
  result<void> agreed = failure(errc::timed_out, "send the PROXY header");
  if (is_sent) agreed = co_await made->bytes->start_tls(std::move(secure), url.host, limit);
  if (!agreed) {
    auto why = std::move(agreed.error());
    why.operation = "connect to " + url.text();
    co_return std::unexpected(std::move(why));
  }
  co_return made;
}

}  // namespace

loop::task<result<connection>> connect(loop::loop& loop, endpoint_url url, connecting connecting) {
  if (url.scheme->form == url_form::name) {
    co_return co_await connect_by_name(loop, std::move(url), std::move(connecting));
  }
  if (connecting.at) {
    auto made = co_await connect_at(loop, url, *connecting.at, connecting);
    co_return made;
  }
  auto found =
      co_await loop::within(loop, find_addresses(loop, url), limit_of(loop, connecting.timeout));
  if (!found) {
    co_return failure(errc::timed_out, "find the address of '" + url.host + "'",
                      "no name server answered",
                      "check the name and the name server (/etc/resolv.conf)");
  }
  if (!*found) co_return std::unexpected(found->error());
  result<connection> last =
      failure(errc::not_found, "connect to " + url.text(), "it has no address", "check the name");
  for (const auto& each : **found) {
    last = co_await connect_at(loop, url, each, connecting);
    if (last) break;
  }
  co_return last;
}

}  // namespace strata::net
