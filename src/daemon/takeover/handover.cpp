#include "daemon/takeover/handover.hpp"

#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "loop/packet_socket.hpp"
#include "loop/socket_shelf.hpp"

namespace strata::daemon::takeover {

using namespace std::chrono_literals;

namespace {

constexpr auto longest_request = 5s;

// Waits until the connection is ready for `events`. A connection that says nothing for too long is
// shut down, which makes it ready.
loop::task<> await_events(loop::loop& loop, const loop::descriptor& connection, unsigned events) {
  loop::awaited_request ready;
  loop.poll(connection, events, ready);
  (void)co_await ready;
}

class deadline final : public loop::timer {
 public:
  deadline(loop::loop& loop, const loop::descriptor& connection, loop::duration limit)
      : loop_(loop), connection_(connection) {
    loop.arm_after(*this, limit);
  }

 private:
  void on_timer() override { loop_.shut_down(connection_); }

  loop::loop& loop_;
  const loop::descriptor& connection_;
};

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
    co_await await_events(loop_, listener_, POLLIN);
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
  if (good) {
    const deadline limit(loop_, connection, longest_request);
    const auto asked = co_await receive(connection);
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
    auto answer = co_await receive(connection);
    if (answer && answer->content.contains("ready")) co_return true;
    if (!answer) given = std::unexpected(answer.error());
  }
  spdlog::error("the other daemon has not taken over: {}; this one goes on",
                given ? "its answer makes no sense" : describe(given.error()));
  using enum loop::socket_shelf::stay;
  auto& shelf = loop::socket_shelf::of_process();
  for (auto& each : sockets) shelf.put(std::move(each), until_taken);
  // The later daemon may have listened on it, as if it were its own from then on.
  (void)::listen(listener_.fd(), SOMAXCONN);
  co_await steps_.take_back();
  (void)shelf.close_untaken();
  co_return false;
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
  const nlohmann::json content{{"lock", true}, {"is_drained", state.is_drained}};
  auto sent = co_await send(connection, content, std::span(&state.lock, 1));
  co_return sent;
}

loop::task<result<packet>> handover::receive(const loop::descriptor& connection) {
  co_await await_events(loop_, connection, POLLIN);
  co_return takeover::receive(connection.fd());
}

loop::task<result<void>> handover::send(const loop::descriptor& connection, nlohmann::json content,
                                        std::span<const unique_fd> descriptors) {
  co_await await_events(loop_, connection, POLLOUT);
  co_return takeover::send(connection.fd(), content, descriptors);
}

}  // namespace strata::daemon::takeover
