#include "net/connector.hpp"

#include "loop/within.hpp"

namespace strata::net {

result<loop::socket_address> address_of(const endpoint_url& url) {
  if (url.is_everywhere()) return loop::socket_address::every(url.port);
  return loop::socket_address::from_ip(url.host, url.port);
}

loop::task<result<std::vector<loop::socket_address>>> find_addresses(loop::loop& on,
                                                                     endpoint_url of) {
  switch (of.scheme->form) {
    case url_form::path: {
      auto address = loop::socket_address::from_path(of.path);
      if (!address) co_return std::unexpected(address.error());
      co_return std::vector{*address};
    }
    case url_form::interface:
    case url_form::queue: co_return std::vector{loop::socket_address{}};
    case url_form::name: co_return std::vector<loop::socket_address>{};
    case url_form::host_and_port:
    case url_form::web: break;
  }
  if (of.is_everywhere()) co_return std::vector{loop::socket_address::every(of.port)};
  co_return co_await on.resolve(of.host, of.port);
}

namespace {

loop::time_point limit_of(const loop::loop& on, loop::duration timeout) {
  return timeout == loop::duration::zero() ? loop::time_point::max() : on.now() + timeout;
}

loop::task<result<connection>> connect_by_name(loop::loop& on, endpoint_url to, connecting how) {
  auto* const names = std::exchange(how.names, nullptr);
  if (names == nullptr) {
    co_return failure(errc::not_supported, "connect to " + to.text(),
                      "only the daemon's runtimes find each other by name", "give its address");
  }
  auto found =
      co_await loop::within(on, names->find_endpoints(on, to.host), limit_of(on, how.timeout));
  if (!found) {
    co_return failure(errc::timed_out, "find runtime '" + to.host + "'",
                      "the daemon has not said where it listens", "try again");
  }
  if (!*found) co_return std::unexpected(found->error());
  result<connection> last = failure(errc::not_found, "connect to " + to.text(), "it is nowhere");
  for (const auto& each : **found) {
    last = co_await connect(on, each, how);
    if (last) break;
  }
  co_return last;
}

// One attempt, at one address.
loop::task<result<connection>> connect_at(loop::loop& on, const endpoint_url& to,
                                          loop::socket_address address, const connecting& how) {
  const auto limit = limit_of(on, how.timeout);
  auto made = co_await to.scheme->connect(on, to, address, limit);
  if (!made) co_return made;
  if (made->bytes) made->bytes->push_copy(as_bytes(how.preface));
  if (!to.scheme->is_secure) co_return made;
  auto secure = how.secure;
  if (!secure) {
    auto by_default = tls_context::for_client({});
    if (!by_default) co_return std::unexpected(by_default.error());
    secure = std::move(*by_default);
  }
  // TLS begins on a stream on which nothing waits.
  const bool is_sent = co_await made->bytes->flushed(limit);
  result<void> agreed = failure(errc::timed_out, "send the PROXY header");
  if (is_sent) agreed = co_await made->bytes->start_tls(std::move(secure), to.host, limit);
  if (!agreed) {
    auto why = std::move(agreed.error());
    why.operation = "connect to " + to.text();
    co_return std::unexpected(std::move(why));
  }
  co_return made;
}

}  // namespace

loop::task<result<connection>> connect(loop::loop& on, endpoint_url to, connecting how) {
  if (to.scheme->form == url_form::name) {
    co_return co_await connect_by_name(on, std::move(to), std::move(how));
  }
  if (how.at) {
    auto made = co_await connect_at(on, to, *how.at, how);
    co_return made;
  }
  auto found = co_await loop::within(on, find_addresses(on, to), limit_of(on, how.timeout));
  if (!found) {
    co_return failure(errc::timed_out, "find the address of '" + to.host + "'",
                      "no name server has answered",
                      "check the name and the name server (/etc/resolv.conf)");
  }
  if (!*found) co_return std::unexpected(found->error());
  result<connection> last =
      failure(errc::not_found, "connect to " + to.text(), "it has no address", "check the name");
  for (const auto& each : **found) {
    last = co_await connect_at(on, to, each, how);
    if (last) break;
  }
  co_return last;
}

}  // namespace strata::net
