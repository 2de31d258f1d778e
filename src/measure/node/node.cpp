#include "measure/node/node.hpp"

#include <arpa/inet.h>
#include <netdb.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <fstream>

#include "measure/ends/catalogue.hpp"
#include "measure/ends/inet_socket.hpp"
#include "measure/node/machine.hpp"
#include "measure/node/running_part.hpp"
#include "measure/node/socket_times.hpp"
#include "measure/node/veth_link.hpp"
#include "strata/l2/interface.hpp"

namespace strata::measure {

namespace {

using json = nlohmann::json;

std::string text_of(const json& value, const char* key) {
  const auto found = value.find(key);
  return found != value.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::uint64_t count_of(const json& value, const char* key) {
  const auto found = value.find(key);
  return found != value.end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
}

result<json> done(const result<void>& outcome) {
  if (!outcome) return std::unexpected(outcome.error());
  return json::object();
}

class node {
 public:
  node(std::optional<std::string> only_interface, std::string address)
      : only_interface_(std::move(only_interface)), address_(std::move(address)) {}

  result<json> obey(const json& value) {
    const auto verb = text_of(value, "do");
    if (verb == "describe") return describe_link(value);
    if (verb == "start") return start(value);
    if (verb == "finish") return finish();
    if (verb == "sockets") {
      const auto repetitions = std::min<std::uint64_t>(count_of(value, "repetitions"), 1000);
      auto timed = time_sockets(link_of(value), address_, repetitions);
      if (!timed) return std::unexpected(timed.error());
      return json{{"sockets", std::move(*timed)}};
    }
    if (!only_interface_) return change(verb, value);
    return failure(errc::invalid_argument, "run '" + verb + "'", "a node does not support it");
  }

 private:
  std::string link_of(const json& value) const {
    return only_interface_ ? *only_interface_ : text_of(value, "link");
  }

  // Requests that only the bench's own child node carries out.
  result<json> change(const std::string& verb, const json& value) {
    const auto link = text_of(value, "link");
    if (verb == "enter") return done(enter_new_namespace());
    if (verb == "join") {
      return done(make_veth(link, text_of(value, "peer_link"),
                            static_cast<pid_t>(count_of(value, "peer_process"))));
    }
    if (verb == "configure") {
      address_ = text_of(value, "address");
      return done(configure_link(link, address_));
    }
    if (verb == "mtu") {
      return done(set_mtu(link, static_cast<std::uint32_t>(count_of(value, "mtu"))));
    }
    if (verb == "neighbour") {
      const auto mac = mac_address::from_text(text_of(value, "mac"));
      if (!mac) return std::unexpected(mac.error());
      return done(set_neighbour(link, text_of(value, "address"), *mac));
    }
    return failure(errc::invalid_argument, "run '" + verb + "'", "a node does not support it");
  }

  result<json> describe_link(const json& value) {
    const auto found = l2::interface::query(link_of(value));
    if (!found) return std::unexpected(found.error());
    return json{{"interface", found->name},
                {"mac", found->mac.text()},
                {"mtu", found->mtu},
                {"is_up", found->is_up()},
                {"address", address_},
                {"offloads", describe_offloads(found->name)},
                {"machine", describe_machine()}};
  }

  result<json> start(const json& value) {
    if (running_) {
      return failure(errc::conflict, "start a measurement", "the previous one has not finished");
    }
    const auto found = value.find("order");
    auto asked = order_from(found == value.end() ? json() : *found);
    if (!asked) return std::unexpected(asked.error());
    if (only_interface_) asked->interface = *only_interface_;
    const auto row = find_path(asked->path);
    if (!row) return std::unexpected(row.error());
    if (address_.empty() && !(*row)->is_raw) {
      return failure(errc::not_found, "measure " + asked->path + " on " + asked->interface,
                     "the interface has no IPv4 address",
                     "add an address: ip address add 192.0.2.2/24 dev " + asked->interface);
    }
    asked->address = address_;
    interface_ = asked->interface;
    before_ = drops_of(interface_);
    auto started =
        asked->path.starts_with("plain_") ? start_plain_part(*asked) : start_child_part(*asked);
    if (!started) return std::unexpected(started.error());
    running_ = std::move(*started);
    return json{{"port", running_->port()}};
  }

  result<json> finish() {
    if (!running_) return failure(errc::conflict, "finish a measurement", "no measurement runs");
    const auto ended = std::exchange(running_, nullptr);
    auto seen = ended->finish();
    if (!seen) return std::unexpected(seen.error());
    const auto after = drops_of(interface_);
    seen->interface_dropped = after.received - before_.received + after.sent - before_.sent;
    return json{{"result", to_json(*seen)}};
  }

  std::optional<std::string> only_interface_;
  std::string address_;
  std::string interface_;
  interface_drops before_;
  std::unique_ptr<running_part> running_;
};

// Gives this process precedence over others on the machine. If that is not permitted, it continues
// without, and the effect shows in the results. A session of its own makes it a scheduling group of
// its own (sched(7), autogroup).
void precede_others() {
  ::setsid();
  ::setpriority(PRIO_PROCESS, 0, -20);
  std::ofstream("/proc/self/autogroup") << -20;
}

// Returns the address of this machine's UDP and TCP sockets for the bench: on the measured
// interface, and not on the interface of the control connection, which may be another. If the
// interface has no address, returns that of the connection.
std::string data_address(const std::string& interface, int connection) {
  if (const auto own = address_of_interface(interface); !own.empty()) return own;
  sockaddr_in address{};
  socklen_t size = sizeof address;
  std::array<char, INET_ADDRSTRLEN> text{};
  ::getsockname(connection, reinterpret_cast<sockaddr*>(&address), &size);
  ::inet_ntop(AF_INET, &address.sin_addr, text.data(), text.size());
  return text.data();
}

}  // namespace

result<void> serve(control_line line, const std::optional<std::string>& only_interface,
                   const std::string& address) {
  node one(only_interface, address);
  for (;;) {
    const auto asked = line.read();
    if (!asked) return std::unexpected(asked.error());
    if (!*asked) return {};
    const auto answer = one.obey(**asked);
    const auto written = line.write(answer ? *answer : json{{"error", describe(answer.error())}});
    if (!written) return written;
  }
}

void pin_to_core(std::size_t index) {
  cpu_set_t allowed;
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  std::size_t seen = 0;
  for (unsigned core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &allowed) || seen++ != index) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    ::sched_setaffinity(0, sizeof one, &one);
    return;
  }
}

result<void> run_far_node(const std::string& interface, const std::string& address,
                          std::uint16_t port, bool once,
                          const std::function<void(const std::string&)>& report) {
  if (auto found = l2::interface::query(interface); !found) {
    return std::unexpected(found.error());
  }
  const auto listener = bound_socket(SOCK_STREAM, address, port, 0);
  if (!listener) return std::unexpected(listener.error());
  // The listener waits forever, and its connections inherit that.
  const timeval forever{};
  ::setsockopt(listener->get(), SOL_SOCKET, SO_RCVTIMEO, &forever, sizeof forever);
  if (::listen(listener->get(), 1) != 0) return system_failure(errno, "listen on " + address);
  pin_to_core(1);
  report("far end on " + interface + ", waiting at " + address + ":" +
         std::to_string(port_of(listener->get())));
  do {
    unique_fd bench(::accept4(listener->get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!bench) {
      if (errno == EINTR || errno == ECONNABORTED) continue;
      return system_failure(errno, "accept a bench connection");
    }
    report("a bench has connected");
    const auto at = data_address(interface, bench.get());
    auto served = serve(control_line(stream_over(std::move(bench))), interface, at);
    if (!served) {
      report(describe(served.error()));
    }
    report("the bench has disconnected");
    if (once) return {};
  } while (true);
}

result<void> run_far_node_on_stdio(const std::string& interface) {
  if (auto found = l2::interface::query(interface); !found) {
    return std::unexpected(found.error());
  }
  pin_to_core(1);
  control_line line(stream_over_standard_input_and_output());
  if (auto said = line.write({{"node", "ready"}}); !said) return said;
  return serve(std::move(line), interface, address_of_interface(interface));
}

result<node_client> node_client::start(std::size_t core) {
  std::array<int, 2> pair{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()) != 0) {
    return system_failure(errno, "create a control connection");
  }
  unique_fd ours(pair[0]);
  unique_fd theirs(pair[1]);
  auto started = process::child::run(
      [&] {
        // Ctrl-C is for the bench: when it ends, its end of the line closes, and the kernel ensures
        // that no process is left.
        std::signal(SIGINT, SIG_IGN);
        ours.reset();
        pin_to_core(core);
        precede_others();
        // It uses any address of its machine, until it is assigned one of its own.
        const auto served =
            serve(control_line(stream_over(std::move(theirs))), std::nullopt, "0.0.0.0");
        return served ? 0 : 1;
      },
      process::bond::dies_with_parent);
  if (!started) return std::unexpected(started.error());
  return node_client(control_line(stream_over(std::move(ours))), std::move(*started));
}

result<node_client> node_client::connect(const std::string& host, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const auto service = std::to_string(port);
  if (const int code = ::getaddrinfo(host.c_str(), service.c_str(), &hints, &found); code != 0) {
    return failure(errc::not_found, "find the far end '" + host + "'", ::gai_strerror(code));
  }
  unique_fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int connected = fd ? ::connect(fd.get(), found->ai_addr, found->ai_addrlen) : -1;
  const int code = errno;
  ::freeaddrinfo(found);
  if (connected != 0) {
    return system_failure(code, "reach the far end at " + host + ":" + service,
                          "start the far end there: strata bench node IFACE");
  }
  return node_client(control_line(stream_over(std::move(fd))));
}

}  // namespace strata::measure
