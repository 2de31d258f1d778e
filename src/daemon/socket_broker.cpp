#include "daemon/socket_broker.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "loop/thread.hpp"

namespace strata::daemon {

namespace {

constexpr mode_t for_everybody = 0666;
constexpr int backlog = 16;

result<unique_fd> listen_at(const std::string& path) {
  const auto what = "listen at '" + path + "' for those who want sockets";
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    return failure(errc::invalid_argument, what, "the path is longer than 107 bytes");
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  unique_fd made(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  // One that a daemon before left behind: whether another runs, the control socket has told.
  ::unlink(path.c_str());
  if (!made ||
      ::bind(made.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::chmod(path.c_str(), for_everybody) != 0 || ::listen(made.get(), backlog) != 0) {
    return system_failure(errno, what);
  }
  return made;
}

result<socket_request> request_on(int connection) {
  const auto came = broker::read_request(connection);
  if (!came) return std::unexpected(came.error());
  switch (came->of) {
    case broker::kind::xdp: return xdp::parse_request(came->message);
    case broker::kind::packet: return l2::parse_request(came->message);
  }
  return failure(errc::malformed, "understand a request for a socket",
                 fmt::format("its kind is 0x{:08x}", static_cast<std::uint32_t>(came->of)),
                 "are daemon and library of one version?");
}

}  // namespace

result<void> socket_broker::start(const std::string& path, const std::string& policy_path) {
  const auto policy = socket_policy::read(policy_path);
  if (!policy) return std::unexpected(policy.error());
  auto listening = listen_at(path);
  if (!listening) return std::unexpected(listening.error());
  stopping_.reset(::eventfd(0, EFD_CLOEXEC));
  if (!stopping_) return system_failure(errno, "make an eventfd");
  listener_ = std::move(*listening);
  file_ = loop::socket_file(path);
  policy_path_ = policy_path;
  auto started = loop::start_thread("serve those who want sockets", [this] { run(); });
  if (!started) return std::unexpected(started.error());
  thread_ = std::move(*started);
  spdlog::info("sockets for others at {}, by {} rules of {}", path, policy->rules().size(),
               policy_path);
  return {};
}

void socket_broker::stop() {
  if (!thread_.joinable()) return;
  const std::uint64_t now = 1;
  (void)!::write(stopping_.get(), &now, sizeof now);
  thread_.join();
  clients_.clear();
  file_.remove();
  listener_.reset();
}

void socket_broker::run() {
  std::vector<pollfd> asked;
  for (;;) {
    const bool has_room = clients_.size() < most_clients;
    asked.assign({{stopping_.get(), POLLIN, 0}, {has_room ? listener_.get() : -1, POLLIN, 0}});
    for (const auto& [fd, one] : clients_) asked.push_back({fd, POLLIN, 0});
    if (::poll(asked.data(), asked.size(), -1) < 0 && errno != EINTR) {
      spdlog::error("the broker of sockets ends: {}", std::strerror(errno));
      return;
    }
    if (asked[0].revents != 0) return;
    if (asked[1].revents != 0) accept_one();
    for (const auto& each : std::span(asked).subspan(2)) {
      if (each.revents != 0 && !serve(clients_.at(each.fd))) clients_.erase(each.fd);
    }
  }
}

void socket_broker::accept_one() {
  unique_fd made(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!made) {
    // Without a descriptor to accept with, the listener would be ready again and again.
    if (errno == EMFILE || errno == ENFILE) std::this_thread::sleep_for(std::chrono::seconds(1));
    return;
  }
  const int fd = made.get();
  auto peer = broker::peer_of(fd);
  if (!peer) return;
  const auto of_user = std::ranges::count_if(
      clients_, [&](const auto& one) { return one.second.peer.user == peer->user; });
  if (of_user >= most_of_a_user) {
    broker::refuse(fd, {.code = errc::limit_exceeded,
                        .operation = "serve more connections of user " + std::to_string(peer->user),
                        .reason = "it has 16",
                        .remedy = "close some",
                        .offset = {}});
    return;
  }
  clients_.emplace(fd, client{std::move(made), std::move(*peer), false, {}});
}

bool socket_broker::serve(client& who) {
  const int connection = who.connection.get();
  // One socket a connection: after that only its end is waited for.
  if (who.is_served) return false;
  auto served = answer(who);
  who.is_served = served.has_value();
  if (!served && served.error().code != errc::connection_closed) {
    spdlog::warn("broker: {}", describe(served.error()));
    broker::refuse(connection, served.error());
  }
  return who.is_served;
}

result<void> socket_broker::answer(client& to) {
  const int connection = to.connection.get();
  const auto what = request_on(connection);
  if (!what) return std::unexpected(what.error());
  const auto policy = socket_policy::read(policy_path_);
  if (!policy) return std::unexpected(policy.error());
  if (auto allowed = policy->check(to.peer, *what); !allowed) return allowed;
  if (const auto* const packet = std::get_if<l2::packet_request>(&*what)) {
    if (auto given = l2::grant_request(connection, *packet); !given) return given;
  } else {
    auto given = xdp::grant_request(connection, std::get<xdp::broker_request>(*what));
    if (!given) return std::unexpected(given.error());
    to.given = std::move(*given);
  }
  spdlog::info("gave process {} of user {} {}", to.peer.process, to.peer.user, text_of(*what));
  return {};
}

}  // namespace strata::daemon
