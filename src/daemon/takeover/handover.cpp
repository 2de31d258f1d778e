#include "daemon/takeover/handover.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <utility>

#include "loop/packet_socket.hpp"
#include "loop/socket_shelf.hpp"
#include "loop/within.hpp"
#include "process/packet.hpp"

namespace strata::daemon::takeover {

using namespace std::chrono_literals;

namespace {

constexpr auto longest_request = 5s;
// For a later daemon that is given up to end by itself.
constexpr auto farewell_limit = 5s;
// For the kernel to end one that was killed: it runs no more instructions in any case.
constexpr auto kill_limit = 30s;

// Returns true when the descriptor is ready for `events`.
loop::task<bool> await_events(loop::loop& loop, const loop::descriptor& descriptor,
                              unsigned events) {
  loop::awaited_request ready;
  loop.poll(descriptor, events, ready);
  (void)co_await ready;
  co_return true;
}

// Returns false if it is not ready within `limit`.
loop::task<bool> await_events(loop::loop& loop, const loop::descriptor& descriptor, unsigned events,
                              loop::duration limit) {
  auto waiting = await_events(loop, descriptor, events);
  const auto ready = co_await loop::within(loop, std::move(waiting), loop.now() + limit);
  co_return ready.has_value();
}

// Returns when the other end is closed.
loop::task<bool> await_close(loop::loop& loop, const loop::descriptor& connection) {
  for (;;) {
    (void)co_await await_events(loop, connection, POLLIN);
    const auto received = takeover::receive(connection.fd());
    if (!received && received.error().code != errc::timed_out) co_return true;
  }
}

bool is_closed(const loop::descriptor& connection) {
  pollfd hangup{.fd = connection.fd(), .events = 0, .revents = 0};
  return ::poll(&hangup, 1, 0) > 0;
}

// The process at the other end (pidfd_open(2)); none if it cannot be known: it may be in another
// namespace.
loop::descriptor process_of(loop::loop& loop, const loop::descriptor& connection) {
  const auto peer = process::peer_of(connection.fd());
  if (!peer || peer->process == 0) return {};
  const auto handle = static_cast<int>(::syscall(SYS_pidfd_open, peer->process, 0U));
  return handle < 0 ? loop::descriptor() : loop.adopt(handle);
}

}  // namespace

result<void> handover::listen(const std::string& path) {
  auto listening =
      loop::listen_for_packets(path, 0600, "listen at '" + path + "' for a daemon that takes over");
  if (!listening) return std::unexpected(listening.error());
  listener_ = loop_.adopt(listening->release());
  file_ = loop::socket_file(path);
  serving_.spawn(serve());
  return {};
}

void handover::stop() {
  serving_.cancel();
  file_.remove();
  listener_ = {};
}

loop::task<> handover::serve() {
  for (;;) {
    (void)co_await await_events(loop_, listener_, POLLIN);
    const int accepted = ::accept4(listener_.fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (accepted < 0) {
      // Without a descriptor the listener stays ready.
      co_await loop_.sleep(100ms);
      continue;
    }
    const bool is_over = co_await hand_over(loop_.adopt(accepted));
    if (is_over) break;
  }
  steps_.finish();
}

loop::task<bool> handover::hand_over(loop::descriptor connection) {
  auto good = check_peer(connection.fd(), "hand over to another daemon");
  const auto process = process_of(loop_, connection);
  if (good) {
    const auto asked = co_await receive(connection, longest_request);
    if (!asked) co_return false;
    good = check(*asked);
  }
  if (!good) {
    co_await refuse(connection, good.error());
    co_return false;
  }
  co_await steps_.wait();
  spdlog::info("another daemon takes over");
  auto sockets = loop::copies_of_listening_sockets();
  const auto state = co_await steps_.begin();
  if (!state) {
    co_await refuse(connection, state.error());
    co_return false;
  }
  auto given = co_await give(connection, sockets, *state);
  if (given) {
    auto served = co_await await_ready(connection);
    if (served) co_return true;
    given = std::unexpected(served.error());
  }
  // One that has closed the connection does not take over any more; a stranger never did.
  const bool is_stranger = given.error().code == errc::malformed;
  if (!is_stranger && !is_closed(connection))
    co_await end_other(connection, process, given.error());
  spdlog::error("the other daemon has not taken over: {}; this one goes on",
                describe(given.error()));
  using enum loop::socket_shelf::stay;
  auto& shelf = loop::socket_shelf::of_process();
  for (auto& each : sockets) shelf.put(std::move(each), until_taken);
  // The later daemon may have listened on it, as if it were its own from then on.
  (void)::listen(listener_.fd(), SOMAXCONN);
  co_await steps_.take_back();
  (void)shelf.close_untaken();
  co_return false;
}

// Its signs of life come from its loop, however long it loads its data.
loop::task<result<void>> handover::await_ready(const loop::descriptor& connection) {
  for (;;) {
    const auto answer = co_await receive(connection, silence_limit_);
    if (!answer) co_return std::unexpected(answer.error());
    if (answer->content.contains("ready")) co_return result<void>{};
    if (!answer->content.contains("alive")) {
      co_return failure(errc::malformed, "read from the other daemon", "its answer makes no sense");
    }
  }
}

// Two daemons would serve the same caches. So this one goes on only when the other one has closed
// the connection, or was killed: one that is stopped, by a signal or a debugger, would wake up.
loop::task<> handover::end_other(const loop::descriptor& connection,
                                 const loop::descriptor& process, const error& why) {
  const auto reason = describe(why);
  spdlog::warn("the other daemon is given up: {}; waiting until it has ended", reason);
  (void)takeover::send(connection.fd(), {{"given_up", reason}});
  auto closing = await_close(loop_, connection);
  if (!process) {
    (void)co_await closing;
    co_return;
  }
  const auto limit = loop_.now() + farewell_limit;
  const auto is_closed = co_await loop::within(loop_, std::move(closing), limit);
  if (is_closed) co_return;
  spdlog::warn("the other daemon does not end, and is killed");
  ::syscall(SYS_pidfd_send_signal, process.fd(), SIGKILL, nullptr, 0U);
  (void)co_await await_events(loop_, process, POLLIN, kill_limit);
}

loop::task<> handover::refuse(const loop::descriptor& connection, const error& why) {
  spdlog::warn("{}", describe(why));
  const nlohmann::json refusal{{"refused", describe(why)}};
  (void)co_await send(connection, refusal, {});
}

result<void> handover::check(const packet& request) const {
  const auto* const operation = "hand over to another daemon";
  const auto version = request.find<std::string>("version").value_or("");
  if (request.find<std::uint64_t>("protocol") != std::uint64_t{protocol}) {
    return failure(
        errc::not_supported, operation,
        "its version " + version + " takes over in another way than this one, " + STRATA_VERSION,
        "stop this daemon, and start that one");
  }
  if (is_older(version, STRATA_VERSION)) {
    return failure(errc::not_supported, operation,
                   "its version " + version + " is older than this one, " + STRATA_VERSION +
                       ", and may not know all options of the records",
                   "stop this daemon, and start that one");
  }
  const auto folder = request.find<std::string>("state_dir").value_or("");
  if (folder != state_dir_) {
    return failure(
        errc::invalid_argument, operation,
        "its state folder is '" + folder + "', but that of this one is '" + state_dir_ + "'",
        "give it the same --state-dir");
  }
  return {};
}

loop::task<result<void>> handover::give(const loop::descriptor& connection,
                                        const std::vector<unique_fd>& sockets,
                                        const daemon_state& state) {
  const std::span all(sockets);
  for (std::size_t done = 0; done < all.size(); done += process::most_packet_descriptors) {
    const auto part =
        all.subspan(done, std::min(process::most_packet_descriptors, all.size() - done));
    auto list = nlohmann::json::array();
    for (const auto& each : part) {
      list.push_back({{"is_kept", loop::socket_shelf::of_process().keeps(each.get())}});
    }
    const nlohmann::json content{{"sockets", std::move(list)}};
    auto sent = co_await send(connection, content, part);
    if (!sent) co_return sent;
  }
  const nlohmann::json content{
      {"lock", true}, {"is_drained", state.is_drained}, {"cluster_key", state.cluster_key}};
  auto sent = co_await send(connection, content, std::span(&state.lock, 1));
  co_return sent;
}

loop::task<result<packet>> handover::receive(const loop::descriptor& connection,
                                             loop::duration limit) {
  (void)co_await await_events(loop_, connection, POLLIN, limit);
  // It may have come while this process itself was stopped.
  auto received = takeover::receive(connection.fd());
  if (!received && received.error().code == errc::timed_out) {
    received.error().reason = fmt::format("it has given no sign of life for {} s",
                                          std::chrono::duration<double>(limit).count());
  }
  co_return received;
}

loop::task<result<void>> handover::send(const loop::descriptor& connection, nlohmann::json content,
                                        std::span<const unique_fd> descriptors) {
  (void)co_await await_events(loop_, connection, POLLOUT, silence_limit_);
  co_return takeover::send(connection.fd(), content, descriptors);
}

}  // namespace strata::daemon::takeover
