// The rows of the table, and what each needs to listen and connect.
#include <sys/socket.h>

#include <cerrno>
#include <chrono>

#include "loop/socket_file.hpp"
#include "net/ethernet/raw_ethernet.hpp"
#include "net/scheme.hpp"
#include "net/udp.hpp"

namespace strata::net {

namespace {

using loop::listen_options;
using loop::socket_address;
using loop::time_point;

// Ends a request that takes too long.
class time_limit final : public loop::timer {
 public:
  time_limit(loop::loop& loop, loop::request& limited, time_point limit) : limited_(limited) {
    if (limit != time_point::max()) loop.arm(*this, limit);
  }
  [[nodiscard]] bool reached() const { return reached_; }

 private:
  void on_timer() override {
    reached_ = true;
    limited_.cancel();
  }

  loop::request& limited_;
  bool reached_ = false;
};

loop::task<result<void>> connect_socket(loop::loop& loop, const loop::descriptor& descriptor,
                                        const endpoint_url& url, const socket_address& address,
                                        time_point until) {
  loop::awaited_request connecting;
  loop.connect(descriptor, address, connecting);
  const time_limit limit(loop, connecting, until);
  const int code = co_await connecting;
  if (code == 0) co_return result<void>{};
  auto operation = "connect to " + url.text();
  if (!url.text().contains(address.text())) operation += " at " + address.text();
  co_return system_failure(limit.reached() ? ETIMEDOUT : -code, std::move(operation),
                           "check that a server listens there");
}

// With port 0 only the kernel knows the port that it chose; without it no peer could connect.
result<void> learn_address(loop::loop& loop, const loop::descriptor& bound, bind_target& target) {
  const auto found = loop.local_address(bound);
  if (found.size() == 0) {
    return failure(errc::system, "listen on " + target.address.text(),
                   "the kernel does not report the address on which it listens");
  }
  // A listener on all addresses keeps its text; the kernel shows only half of it.
  if (target.address.is_every()) {
    target.address.set_port(found.port());
  } else {
    target.address = found;
  }
  return {};
}

// Looks up the group before it creates the socket's file.
result<loop::descriptor> listen_at_path(loop::loop& loop, const bind_target& target,
                                        listen_options options) {
  const auto& access = target.url.access;
  options.mode = access.mode;
  const auto group = access.group.empty() ? result<gid_t>(0) : loop::find_group(access.group);
  if (!group) return std::unexpected(group.error());
  auto opened = loop.listen(target.address, options);
  if (!opened || access.group.empty()) return opened;
  auto given = loop::give_socket(target.url.path, *group, access.mode.value_or(0660));
  if (!given) return std::unexpected(given.error());
  return opened;
}

result<listening> listen_streams(loop::loop& loop, bind_target& target,
                                 const listen_options& options) {
  const bool has_path = target.address.family() == AF_UNIX;
  auto opened =
      has_path ? listen_at_path(loop, target, options) : loop.listen(target.address, options);
  if (!opened) return std::unexpected(opened.error());
  if (!has_path) {
    if (auto known = learn_address(loop, *opened, target); !known) {
      return std::unexpected(known.error());
    }
  }
  return listening{std::make_unique<listener>(loop, std::move(*opened)), nullptr};
}

result<void> probe_streams(loop::loop& loop, const socket_address& address) {
  return loop.probe_stream(address, 0);
}

loop::task<result<connection>> connect_stream(loop::loop& loop, endpoint_url url,
                                              socket_address address, time_point limit) {
  auto opened = loop.open_stream(address.family(), 0);
  if (!opened) co_return std::unexpected(opened.error());
  auto done = co_await connect_socket(loop, *opened, url, address, limit);
  if (!done) co_return std::unexpected(done.error());
  co_return connection{stream::over(loop, std::move(*opened)), nullptr};
}

result<listening> listen_udp(loop::loop& loop, bind_target& target, const listen_options& options) {
  auto opened = loop.open_datagram(target.address.family(), target.address, options);
  if (!opened) return std::unexpected(opened.error());
  if (auto known = learn_address(loop, *opened, target); !known)
    return std::unexpected(known.error());
  return listening{nullptr, std::make_unique<udp>(loop, std::move(*opened))};
}

result<void> probe_udp(loop::loop& loop, const socket_address& address) {
  return loop.probe_datagram(address);
}

loop::task<result<connection>> connect_udp(loop::loop& loop, endpoint_url url,
                                           socket_address address, time_point limit) {
  auto opened = loop.open_datagram(address.family(), {}, {});
  if (!opened) co_return std::unexpected(opened.error());
  auto done = co_await connect_socket(loop, *opened, url, address, limit);
  if (!done) co_return std::unexpected(done.error());
  co_return connection{nullptr, std::make_unique<udp>(loop, std::move(*opened))};
}

result<listening> listen_frames(loop::loop& loop, bind_target& target,
                                const listen_options& /*how*/) {
  auto opened = raw_ethernet::open(loop, target.url);
  if (!opened) return std::unexpected(opened.error());
  return listening{nullptr, std::move(*opened)};
}

loop::task<result<connection>> connect_frames(loop::loop& loop, endpoint_url url,
                                              socket_address /*address*/, time_point /*limit*/) {
  auto opened = raw_ethernet::open(loop, url);
  if (!opened) co_return std::unexpected(opened.error());
  co_return connection{nullptr, std::move(*opened)};
}

// One entry per row.
// clang-format off
constexpr scheme_row table[] = {
    {.name = "tcp", .form = url_form::host_and_port, .carries = traffic::bytes,
     .example = "tcp://HOST:PORT", .help = "a TCP stream",
     .listen = listen_streams, .probe = probe_streams, .connect = connect_stream},
    {.name = "tls", .form = url_form::host_and_port, .carries = traffic::bytes, .is_secure = true,
     .example = "tls://HOST:PORT", .help = "a TCP stream with TLS",
     .listen = listen_streams, .probe = probe_streams, .connect = connect_stream},
    {.name = "http", .form = url_form::web, .carries = traffic::bytes, .has_messages = false,
     .default_port = 80,
     .example = "http://HOST:PORT", .help = "HTTP, with its WebSockets",
     .listen = listen_streams, .probe = probe_streams, .connect = connect_stream},
    {.name = "https", .form = url_form::web, .carries = traffic::bytes, .is_secure = true,
     .has_messages = false, .default_port = 443, .example = "https://HOST:PORT",
     .help = "HTTP with TLS, with its WebSockets",
     .listen = listen_streams, .probe = probe_streams, .connect = connect_stream},
    {.name = "ws", .form = url_form::web, .carries = traffic::bytes, .default_port = 80,
     .example = "ws://HOST:PORT/PATH", .help = "a WebSocket",
     .listen = listen_streams, .probe = probe_streams, .connect = connect_stream},
    {.name = "wss", .form = url_form::web, .carries = traffic::bytes, .is_secure = true,
     .default_port = 443, .example = "wss://HOST:PORT/PATH", .help = "a WebSocket with TLS",
     .listen = listen_streams, .probe = probe_streams, .connect = connect_stream},
    {.name = "udp", .form = url_form::host_and_port, .carries = traffic::datagrams,
     .example = "udp://HOST:PORT", .help = "UDP datagrams",
     .listen = listen_udp, .probe = probe_udp, .connect = connect_udp},
    {.name = "unix", .form = url_form::path, .carries = traffic::bytes,
     .example = "unix:///PATH", .help = "a stream over a Unix socket; also ?mode=0660&group=NAME",
     .listen = listen_streams, .probe = nullptr, .connect = connect_stream},
    {.name = "l2", .form = url_form::interface, .carries = traffic::frames,
     .example = "l2://IFACE/0x88b5?vlan=10&prio=7",
     .help = "Ethernet frames; also dst=MAC and dei=1",
     .listen = listen_frames, .probe = nullptr, .connect = connect_frames},
    {.name = "xdp", .form = url_form::queue, .carries = traffic::frames,
     .example = "xdp://IFACE/QUEUE?ethertype=0x88b5",
     .help = "Ethernet frames by AF_XDP; also mode=native|generic|zerocopy, and the rest as for l2",
     .listen = listen_frames, .probe = nullptr, .connect = connect_frames},
    {.name = "runtime", .form = url_form::name, .carries = traffic::bytes,
     .example = "runtime://NAME", .help = "the endpoint of another runtime of the daemon",
     .listen = nullptr, .probe = nullptr, .connect = nullptr},
};
// clang-format on

}  // namespace

std::span<const scheme_row> schemes() { return table; }

std::string scheme_examples(url_use use) {
  std::string all;
  std::string_view last;
  for (const auto& row : table) {
    if (use == url_use::listen && row.listen == nullptr) continue;
    if (use == url_use::connect && !row.has_messages) continue;
    if (!last.empty()) all += (all.empty() ? "" : ", ") + std::string(last);
    last = row.example;
    // A listener serves all paths.
    if (use == url_use::listen && row.form == url_form::web)
      last = last.substr(0, last.find("/PATH"));
  }
  return all + " or " + std::string(last);
}

result<endpoint_url> parse_listening(std::string_view text) {
  auto url = parse_endpoint(text, url_use::listen);
  if (url && url->scheme->listen == nullptr) {
    return failure(errc::invalid_argument, "listen on '" + std::string(text) + "'",
                   "it is " + std::string(url->scheme->help),
                   "write " + scheme_examples(url_use::listen));
  }
  if (url && url->is_web() && !url->path.empty()) {
    return failure(errc::invalid_argument, "listen on '" + std::string(text) + "'",
                   "a server listens on a port, for all paths", "leave out '" + url->path + "'");
  }
  return url;
}

result<endpoint_url> parse_connecting(std::string_view text) {
  auto url = parse_endpoint(text);
  if (url && url->is_everywhere()) {
    return failure(errc::invalid_argument, "connect to '" + std::string(text) + "'",
                   "'*' means all addresses of this machine, for listening only",
                   "give the name or address of one host");
  }
  return url;
}

bool collide(const endpoint_url& one, const endpoint_url& other) {
  // What is spoken on a port concerns only its listener.
  const bool are_streams =
      one.has_port() && other.has_port() && one.is_stream() && other.is_stream();
  if (one.scheme != other.scheme && !are_streams) return false;
  switch (one.scheme->form) {
    case url_form::path: return one.path == other.path;
    case url_form::queue: return one.host == other.host && one.xdp.queue == other.xdp.queue;
    case url_form::interface:
      return one.host == other.host && one.l2.ethertype == other.l2.ethertype &&
             one.l2.vlan_id.value_or(0) == other.l2.vlan_id.value_or(0);
    case url_form::name: return false;
    case url_form::host_and_port:
    case url_form::web: break;
  }
  // A host name may resolve to the other's address, as a wildcard includes it.
  const auto is_open = [](const endpoint_url& url) {
    return url.host == "0.0.0.0" || url.host == "::" ||
           !socket_address::from_ip(url.host, url.port);
  };
  return one.port == other.port && (one.host == other.host || is_open(one) || is_open(other));
}

}  // namespace strata::net
