#include "daemon/takeover/predecessor.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>

#include "daemon/takeover/packet.hpp"
#include "loop/names/address.hpp"
#include "loop/packet_socket.hpp"
#include "loop/socket_shelf.hpp"
#include "options/own_folder.hpp"

namespace strata::daemon::takeover {

namespace {

// A daemon that ends in the middle may have handed over to another one.
constexpr int most_requests = 5;

// Puts the packet's sockets on the shelf.
result<void> take_sockets(packet& received, const std::string& operation) {
  const auto found = received.content.find("sockets");
  if (found == received.content.end()) return {};
  if (!found->is_array() || found->size() != received.descriptors.size()) {
    return failure(errc::malformed, operation, "it sent other sockets than it says");
  }
  using enum loop::socket_shelf::stay;
  for (std::size_t i = 0; i < found->size(); ++i) {
    const bool is_kept = (*found)[i] == nlohmann::json{{"is_kept", true}};
    loop::socket_shelf::of_process().put(std::move(received.descriptors[i]),
                                         is_kept ? always : until_taken);
  }
  return {};
}

// The other daemon may save a lot of data before it answers.
result<packet> await_packet(int connection) {
  pollfd readable{.fd = connection, .events = POLLIN, .revents = 0};
  while (::poll(&readable, 1, -1) < 0 && errno == EINTR) {
  }
  return receive(connection);
}

// This process's copy of the listener would accept, for nobody, what is asked next.
void close_listener_copy(const std::string& path) {
  const auto address = loop::socket_address::from_path(path);
  if (address) (void)loop::socket_shelf::of_process().take(*address, SOCK_SEQPACKET);
}

}  // namespace

std::string path_for(const std::string& control_socket) {
  return options::path_beside(control_socket, "takeover");
}

result<std::optional<predecessor>> predecessor::ask(const std::string& control_socket,
                                                    const std::string& state_dir) {
  const auto path = path_for(control_socket);
  const auto operation = "take over from the daemon at '" + control_socket + "'";
  auto answer = ask_once(path, state_dir, operation);
  for (int count = 1; count < most_requests; ++count) {
    if (answer || answer.error().code != errc::connection_closed) break;
    spdlog::warn("{}: asking who serves now", describe(answer.error()));
    close_listener_copy(path);
    answer = ask_once(path, state_dir, operation);
  }
  return answer;
}

result<std::optional<predecessor>> predecessor::ask_once(const std::string& path,
                                                         const std::string& state_dir,
                                                         const std::string& operation) {
  auto connected = loop::connect_for_packets(path, operation);
  if (!connected) {
    const auto code = connected.error().sys_errno;
    if (code == ENOENT || code == ECONNREFUSED) return std::nullopt;
    return std::unexpected(connected.error());
  }
  const int connection = connected->get();
  if (auto own = check_peer(connection, operation); !own) return std::unexpected(own.error());
  const auto asked = send(
      connection, {{"protocol", protocol}, {"version", STRATA_VERSION}, {"state_dir", state_dir}});
  if (!asked) return std::unexpected(asked.error());
  // It sends those of the daemon before it, too.
  (void)loop::socket_shelf::of_process().close_untaken();
  for (;;) {
    auto received = await_packet(connection);
    if (!received) {
      auto why = received.error();
      why.operation = operation;
      if (why.code == errc::connection_closed) why.reason = "it has ended meanwhile";
      return std::unexpected(why);
    }
    if (const auto reason = received->find<std::string>("refused")) {
      return failure(errc::conflict, operation, "it answered: " + *reason);
    }
    if (received->content.contains("lock") && received->descriptors.size() == 1) {
      return predecessor(std::move(*connected), std::move(received->descriptors.front()),
                         received->find<bool>("is_drained").value_or(false),
                         received->find<std::string>("cluster_key").value_or(""));
    }
    if (auto taken = take_sockets(*received, operation); !taken) {
      return std::unexpected(taken.error());
    }
  }
}

void predecessor::report_life() const { (void)send(connection_.get(), {{"alive", true}}); }

// If it has ended meanwhile, nothing is left to be done.
void predecessor::end() const { (void)send(connection_.get(), {{"ready", true}}); }

loop::task<std::optional<std::string>> predecessor::await_outcome(loop::loop& loop) const {
  // A descriptor of its own: this object may go meanwhile.
  const auto connection = loop.adopt(::fcntl(connection_.get(), F_DUPFD_CLOEXEC, 0));
  for (;;) {
    loop::awaited_request readable;
    loop.poll(connection, POLLIN, readable);
    (void)co_await readable;
    const auto received = receive(connection.fd());
    if (!received && received.error().code == errc::timed_out) continue;
    if (!received) co_return std::nullopt;
    if (auto reason = received->find<std::string>("given_up")) co_return reason;
  }
}

}  // namespace strata::daemon::takeover
