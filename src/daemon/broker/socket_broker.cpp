#include "daemon/broker/socket_broker.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "loop/packet_socket.hpp"
#include "loop/thread.hpp"
#include "options/own_folder.hpp"

namespace strata::daemon {

namespace {

constexpr mode_t for_everybody = 0666;
constexpr int descriptor_pause_ms = 1000;

result<socket_request> request_on(int connection) {
  const auto came = broker::read_request(connection);
  if (!came) return std::unexpected(came.error());
  switch (came->of) {
    case broker::kind::xdp: return xdp::parse_request(came->message);
    case broker::kind::packet: return l2::parse_request(came->message);
  }
  return failure(errc::malformed, "read a request for a socket",
                 fmt::format("its kind 0x{:08x} is unknown", static_cast<std::uint32_t>(came->of)),
                 "use the same version of daemon and library");
}

result<std::optional<xdp::grant>> make(int connection, const socket_request& request) {
  if (const auto* const packet = std::get_if<l2::packet_request>(&request)) {
    if (auto handed = l2::grant_request(connection, *packet); !handed) {
      return std::unexpected(handed.error());
    }
    return std::nullopt;
  }
  auto handed = xdp::grant_request(connection, std::get<xdp::broker_request>(request));
  if (!handed) return std::unexpected(handed.error());
  return std::move(*handed);
}

void notify(int event) {
  const std::uint64_t once = 1;
  (void)!::write(event, &once, sizeof once);
}

}  // namespace

std::string broker_socket_beside(const std::string& control_socket) {
  return options::path_beside(control_socket, "broker");
}

result<void> socket_broker::start(const std::string& path, const std::string& policy_path) {
  const auto policy = socket_policy::read(policy_path);
  if (!policy) return std::unexpected(policy.error());
  auto listening =
      loop::listen_for_packets(path, for_everybody, "listen at '" + path + "' for socket requests");
  if (!listening) return std::unexpected(listening.error());
  stopping_.reset(::eventfd(0, EFD_CLOEXEC));
  made_some_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!stopping_ || !made_some_) return system_failure(errno, "create an eventfd");
  listener_ = std::move(*listening);
  file_ = loop::socket_file(path);
  policy_path_ = policy_path;
  auto started = loop::start_thread("serve socket requests", [this] { run(); });
  if (!started) return std::unexpected(started.error());
  thread_ = std::move(*started);
  spdlog::info("serving socket requests at {} by {} rules of {}", path, policy->rules().size(),
               policy_path);
  return {};
}

void socket_broker::stop() {
  if (!thread_.joinable()) return;
  notify(stopping_.get());
  thread_.join();
  for (auto& [fd, one] : clients_) {
    if (one.maker.joinable()) one.maker.join();
  }
  made_.clear();
  clients_.clear();
  file_.remove();
  listener_.reset();
}

bool socket_broker::is_polled(const client& client) const {
  if (client.at == stage::waits) return false;
  if (client.at == stage::is_served) return true;
  const auto in_work = std::ranges::count_if(clients_, [&](const auto& one) {
    return one.second.peer.user == client.peer.user && one.second.at == stage::waits;
  });
  return in_work < most_at_once;
}

void socket_broker::run() {
  std::vector<pollfd> asked;
  for (;;) {
    const bool accepts = clients_.size() < most_clients && !has_no_descriptor_;
    asked.assign({{stopping_.get(), POLLIN, 0},
                  {made_some_.get(), POLLIN, 0},
                  {accepts ? listener_.get() : -1, POLLIN, 0}});
    for (const auto& [fd, one] : clients_) {
      if (is_polled(one)) asked.push_back({fd, POLLIN, 0});
    }
    // Without a descriptor to accept with, the listener would be reported ready repeatedly.
    const int limit = std::exchange(has_no_descriptor_, false) ? descriptor_pause_ms : -1;
    if (::poll(asked.data(), asked.size(), limit) < 0 && errno != EINTR) {
      spdlog::error("the socket broker stops: {}", std::strerror(errno));
      return;
    }
    if (asked[0].revents != 0) return;
    if (asked[1].revents != 0) collect();
    if (asked[2].revents != 0) accept_one();
    for (const auto& each : std::span(asked).subspan(3)) {
      if (each.revents == 0) continue;
      auto& who = clients_.at(each.fd);
      if (!is_polled(who)) continue;  // its user has too many requests under way by now
      // One socket per connection: after that only its end is expected.
      const bool goes = who.at == stage::is_served;
      const auto begun = goes ? result<void>{} : begin(who);
      if (!begun) refuse(who, begun.error());
      if (goes || !begun) clients_.erase(each.fd);
    }
  }
}

void socket_broker::accept_one() {
  unique_fd accepted(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!accepted) {
    has_no_descriptor_ = errno == EMFILE || errno == ENFILE;
    return;
  }
  const int fd = accepted.get();
  auto peer = broker::peer_of(fd);
  if (!peer) return;
  const auto of_user = std::ranges::count_if(
      clients_, [&](const auto& one) { return one.second.peer.user == peer->user; });
  if (of_user >= most_of_a_user) {
    broker::refuse(fd, {.code = errc::limit_exceeded,
                        .operation = "serve more connections of user " + std::to_string(peer->user),
                        .reason = "the user has 16",
                        .remedy = "close some",
                        .offset = {}});
    return;
  }
  clients_.emplace(fd, client{.connection = std::move(accepted), .peer = std::move(*peer)});
}

// The policy is read here, one request at a time: the system's user look-ups are not thread-safe.
result<void> socket_broker::begin(client& client) {
  const int connection = client.connection.get();
  const auto what = request_on(connection);
  if (!what) return std::unexpected(what.error());
  const auto policy = socket_policy::read(policy_path_);
  if (!policy) return std::unexpected(policy.error());
  if (auto allowed = policy->check(client.peer, *what); !allowed) return allowed;
  auto started = loop::start_thread("open a socket for a client", [this, connection, what = *what] {
    made done{.connection = connection, .outcome = make(connection, what)};
    {
      const std::lock_guard guard(made_lock_);
      made_.push_back(std::move(done));
    }
    notify(made_some_.get());
  });
  if (!started) return std::unexpected(started.error());
  client.maker = std::move(*started);
  client.at = stage::waits;
  client.wants = text_of(*what);
  return {};
}

void socket_broker::collect() {
  std::uint64_t count = 0;
  (void)!::read(made_some_.get(), &count, sizeof count);
  std::vector<made> all;
  {
    const std::lock_guard guard(made_lock_);
    all.swap(made_);
  }
  for (auto& each : all) {
    auto& who = clients_.at(each.connection);
    who.maker.join();
    if (!each.outcome) {
      refuse(who, each.outcome.error());
      clients_.erase(each.connection);
      continue;
    }
    who.has = std::move(*each.outcome);
    who.at = stage::is_served;
    spdlog::info("passed to process {} of user {}: {}", who.peer.process, who.peer.user, who.wants);
  }
}

void socket_broker::refuse(const client& client, const error& why) {
  if (why.code == errc::connection_closed) return;
  broker::refuse(client.connection.get(), why);
  const auto lines =
      refusals_.lines_for(client.peer.user, describe(why), refusal_log::clock::now());
  for (const auto& line : lines) spdlog::warn("broker: {}", line);
}

}  // namespace strata::daemon
