#include "net/connector.hpp"

#include "loop/within.hpp"

namespace strata::net {

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
  co_return co_await on.resolve(of.host, of.port);
}

namespace {

loop::time_point limit_of(const loop::loop& on, loop::duration timeout) {
  return timeout == loop::duration::zero() ? loop::time_point::max() : on.now() + timeout;
}

loop::task<result<connection>> connect_by_name(loop::loop& on, endpoint_url to,
                                               loop::duration timeout, directory* names) {
  if (names == nullptr) {
    co_return failure(errc::not_supported, "connect to " + to.text(),
                      "only the daemon's runtimes find each other by name", "give its address");
  }
  auto found = co_await loop::within(on, names->find_endpoints(on, to.host), limit_of(on, timeout));
  if (!found) {
    co_return failure(errc::timed_out, "find runtime '" + to.host + "'",
                      "the daemon has not said where it listens", "try again");
  }
  if (!*found) co_return std::unexpected(found->error());
  result<connection> last = failure(errc::not_found, "connect to " + to.text(), "it is nowhere");
  for (const auto& each : **found) {
    last = co_await connect(on, each, timeout);
    if (last) break;
  }
  co_return last;
}

}  // namespace

loop::task<result<connection>> connect(loop::loop& on, endpoint_url to, loop::duration timeout,
                                       directory* names) {
  if (to.scheme->form == url_form::name) co_return co_await connect_by_name(on, to, timeout, names);
  auto found = co_await loop::within(on, find_addresses(on, to), limit_of(on, timeout));
  if (!found) {
    co_return failure(errc::timed_out, "find the address of '" + to.host + "'",
                      "no name server has answered",
                      "check the name and the name server (/etc/resolv.conf)");
  }
  if (!*found) co_return std::unexpected(found->error());
  result<connection> last =
      failure(errc::not_found, "connect to " + to.text(), "it has no address", "check the name");
  for (const auto& each : **found) {
    last = co_await to.scheme->connect(on, to, each, limit_of(on, timeout));
    if (last) break;
  }
  co_return last;
}

}  // namespace strata::net
