#include "strata/ipc/hybrid.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <random>

#include "ipc/hybrid_control.hpp"
#include "ipc/stop_event.hpp"
#include "strata/wire/ethernet.hpp"
#include "strata/wire/hybrid_handshake.hpp"

namespace strata::ipc {

namespace {

using clock = std::chrono::steady_clock;
using wire::hybrid_greeting;

// Sent by the client when its raw socket is open; the server may send from then on.
constexpr std::byte ready_mark{0x52};

result<l2::interface> check(std::string_view interface_name, const hybrid_config& config) {
  auto found = l2::interface::query(interface_name);
  if (!found) return found;
  const wire::vlan_tci tci{.priority = config.priority, .vlan_id = config.vlan_id.value_or(0)};
  if (auto good = tci.check(); !good) return std::unexpected(good.error());
  const auto operation = "create a hybrid endpoint on " + found->name;
  if (found->mac.is_zero()) {
    return failure(errc::invalid_argument, operation, "the interface has no MAC address",
                   "use an Ethernet or veth interface, or a channel on lo");
  }
  if (config.ethertype < wire::min_ethertype || wire::is_tpid(config.ethertype)) {
    return failure(errc::invalid_argument, operation,
                   "EtherType " + std::to_string(config.ethertype) + " is a length or a VLAN tag",
                   "use 0x88B5");
  }
  return found;
}

hybrid_greeting greeting_of(const l2::interface& interface, hybrid_greeting::end role,
                            std::uint64_t session, const hybrid_config& config) {
  return {.role = role,
          .session = session,
          .mac = interface.mac,
          .ethertype = config.ethertype,
          .vlan_id = config.vlan_id,
          .mtu = static_cast<std::uint16_t>(std::min<std::size_t>(interface.mtu, wire::max_mtu))};
}

std::string vlan_text(std::optional<std::uint16_t> vlan_id) {
  return vlan_id ? "VLAN " + std::to_string(*vlan_id) : std::string("no VLAN");
}

// Checks that two greetings are of different ends, and agree on the format of the frames.
result<void> compare(const hybrid_greeting& mine, const hybrid_greeting& theirs) {
  const std::string operation = "negotiate with the hybrid peer " + theirs.mac.text();
  if (mine.role == theirs.role) {
    return failure(errc::malformed, operation, "both ends have the same role",
                   "run one as server and one as client");
  }
  if (mine.mac == theirs.mac) {
    return failure(errc::conflict, operation, "both ends have the same MAC address",
                   "use a separate interface for each end");
  }
  if (mine.ethertype != theirs.ethertype) {
    return failure(errc::conflict, operation,
                   "it uses EtherType " + std::to_string(theirs.ethertype) + ", this end uses " +
                       std::to_string(mine.ethertype),
                   "use the same EtherType at both ends");
  }
  if (mine.vlan_id != theirs.vlan_id) {
    return failure(
        errc::conflict, operation,
        "it uses " + vlan_text(theirs.vlan_id) + ", this end uses " + vlan_text(mine.vlan_id),
        "use the same VLAN at both ends");
  }
  return {};
}

result<hybrid_greeting> read_greeting(int fd, deadline limit) {
  std::array<std::byte, hybrid_greeting::size> bytes{};
  if (auto done = read_all(fd, bytes, limit, "read the peer's hybrid greeting"); !done) {
    return std::unexpected(done.error());
  }
  return hybrid_greeting::parse(bytes);
}

result<void> write_greeting(int fd, const hybrid_greeting& mine, deadline limit) {
  return write_all(fd, mine.build(), limit, "greet the hybrid peer");
}

result<l2::raw_socket> open_data(const l2::interface& interface, const mac_address& peer,
                                 const hybrid_config& config) {
  return l2::raw_socket::create_bound(interface.name, {.filter = {.ethertype = config.ethertype,
                                                                  .vlan_id = config.vlan_id,
                                                                  .untagged = !config.vlan_id,
                                                                  .source = peer,
                                                                  .destination = interface.mac},
                                                       .receive_buffer = config.receive_buffer});
}

std::uint64_t new_session() {
  std::random_device source;
  for (;;) {
    const auto made = std::uint64_t{source()} << 32U | source();
    if (made != 0) return made;
  }
}

}  // namespace

hybrid_endpoint::hybrid_endpoint(l2::raw_socket socket, unique_fd control,
                                 const hybrid_config& config, const mac_address& peer,
                                 std::uint64_t session, std::size_t mtu)
    : socket_(std::move(socket)),
      control_(std::move(control)),
      ethertype_(config.ethertype),
      peer_(peer),
      session_(session),
      mtu_(mtu),
      payload_(mtu),
      outgoing_(mtu + wire::ethernet_header_size + wire::vlan_tag_size + wire::min_frame_size),
      incoming_(socket_.link().mtu + wire::ethernet_header_size + 2 * wire::vlan_tag_size) {
  if (config.vlan_id) {
    tags_.push_back({wire::tpid_customer,
                     {.priority = config.priority, .dei = false, .vlan_id = *config.vlan_id}});
  }
}

result<hybrid_endpoint> hybrid_endpoint::create_server(std::string_view interface_name,
                                                       const hybrid_config& config) {
  auto listener = hybrid_listener::listen(interface_name, config);
  if (!listener) return std::unexpected(listener.error());
  return listener->accept();
}

result<hybrid_endpoint> hybrid_endpoint::create_client(std::string_view interface_name,
                                                       std::string_view host,
                                                       const hybrid_config& config) {
  const auto limit = clock::now() + config.timeout;
  const auto on = check(interface_name, config);
  if (!on) return std::unexpected(on.error());
  auto control = connect_tcp(host, config.tcp_port, limit);
  if (!control) return std::unexpected(control.error());
  const auto mine = greeting_of(*on, hybrid_greeting::end::client, 0, config);
  if (auto done = write_greeting(control->get(), mine, limit); !done) {
    return std::unexpected(done.error());
  }
  const auto theirs = read_greeting(control->get(), limit);
  if (!theirs) return std::unexpected(theirs.error());
  if (auto agreed = compare(mine, *theirs); !agreed) return std::unexpected(agreed.error());
  auto socket = open_data(*on, theirs->mac, config);
  if (!socket) return std::unexpected(socket.error());
  if (auto done = watch_peer(control->get(), config.peer_timeout); !done) {
    return std::unexpected(done.error());
  }
  if (auto done = write_all(control->get(), {&ready_mark, 1}, limit, "greet the hybrid peer");
      !done) {
    return std::unexpected(done.error());
  }
  return hybrid_endpoint(std::move(*socket), std::move(*control), config, theirs->mac,
                         theirs->session, std::min(mine.mtu, theirs->mtu));
}

result<hybrid_endpoint> hybrid_endpoint::greet(const l2::interface& interface, unique_fd control,
                                               const hybrid_config& config, deadline limit) {
  const auto theirs = read_greeting(control.get(), limit);
  if (!theirs) return std::unexpected(theirs.error());
  const auto mine = greeting_of(interface, hybrid_greeting::end::server, new_session(), config);
  auto agreed = compare(mine, *theirs);
  // Opened before the client knows the destination, so that its first frame is received.
  std::optional<l2::raw_socket> socket;
  if (agreed) {
    auto opened = open_data(interface, theirs->mac, config);
    if (!opened) return std::unexpected(opened.error());
    socket.emplace(std::move(*opened));
  }
  // Sent even without an agreement, so that the client can report why.
  if (auto done = write_greeting(control.get(), mine, limit); !done) {
    return std::unexpected(done.error());
  }
  if (!agreed) return std::unexpected(agreed.error());
  std::byte mark{};
  if (auto done = read_all(control.get(), {&mark, 1}, limit, "receive the client's ready signal");
      !done) {
    return std::unexpected(done.error());
  }
  if (mark != ready_mark) {
    return failure(errc::malformed, "receive the client's ready signal", "another byte arrived");
  }
  if (auto done = watch_peer(control.get(), config.peer_timeout); !done) {
    return std::unexpected(done.error());
  }
  return hybrid_endpoint(std::move(*socket), std::move(control), config, theirs->mac, mine.session,
                         std::min(mine.mtu, theirs->mtu));
}

std::size_t hybrid_endpoint::max_payload() const { return mtu_ - wire::hybrid_data::head_size; }

result<void> hybrid_endpoint::send_data(byte_span payload) {
  if (auto alive = check_control(); !alive) return alive;
  if (payload.size() > max_payload()) {
    return failure(errc::limit_exceeded,
                   "send " + std::to_string(payload.size()) + " bytes on " + link().name,
                   "a frame between both ends holds at most " + std::to_string(max_payload()),
                   "send less at once, or raise the MTU of both interfaces");
  }
  const auto size = wire::hybrid_data{.session = session_, .message = payload}.write(payload_);
  const auto built = wire::build_frame_into(outgoing_, {peer_, link().mac, tags_, ethertype_},
                                            byte_span(payload_).first(size), mtu_);
  if (!built) return std::unexpected(built.error());
  return socket_.send_raw(byte_span(outgoing_).first(*built));
}

// The peer sends nothing more over TCP: anything readable is its end.
result<void> hybrid_endpoint::check_control() {
  std::byte unexpected{};
  const auto count = ::recv(control_.get(), &unexpected, 1, MSG_DONTWAIT);
  const std::string operation = "reach the hybrid peer " + peer_.text();
  if (count == 0) {
    return failure(errc::connection_closed, operation, "the other end has left",
                   "create a new endpoint");
  }
  if (count > 0) {
    return failure(errc::malformed, operation, "it violated the protocol on the control connection",
                   "create a new endpoint");
  }
  if (errno == EAGAIN || errno == EINTR) return {};
  auto failed = system_error(errno, operation, "create a new endpoint");
  failed.code = errc::connection_closed;
  return std::unexpected(std::move(failed));
}

std::optional<data_message> hybrid_endpoint::read(const l2::received_frame& frame) {
  const auto view = wire::ethernet_view::parse(frame.bytes);
  const auto data =
      view && !frame.is_truncated() ? wire::hybrid_data::parse(view->payload()) : std::nullopt;
  // At most one tag; the kernel has checked the outermost one.
  if (!data || data->session != session_ || view->tags().size() != tags_.size()) {
    ++refused_;
    return std::nullopt;
  }
  data_message made{.source = view->source(), .payload = {}};
  made.payload.assign(data->message.begin(), data->message.end());
  if (!view->tags().empty()) {
    const auto& tci = view->tags()[0].tci;
    made.priority = tci.priority;
    made.vlan_id = tci.vlan_id;
    made.was_tagged = true;
  }
  return made;
}

result<std::optional<data_message>> hybrid_endpoint::try_receive_data() {
  for (;;) {
    l2::frame_slot slot{.memory = incoming_, .frame = {}};
    const auto count = socket_.try_receive({&slot, 1});
    if (!count) return std::unexpected(count.error());
    if (*count == 0) break;
    if (auto found = read(slot.frame)) return found;
  }
  if (auto alive = check_control(); !alive) return std::unexpected(alive.error());
  return std::nullopt;
}

result<bool> hybrid_endpoint::wait(std::optional<deadline> limit, int other_fd) const {
  std::array<pollfd, 3> asked{pollfd{.fd = data_fd(), .events = POLLIN, .revents = 0},
                              pollfd{.fd = control_fd(), .events = POLLIN, .revents = 0},
                              pollfd{.fd = other_fd, .events = POLLIN, .revents = 0}};
  std::optional<timespec> left;
  if (limit) {
    const auto rest = std::max(*limit - clock::now(), clock::duration::zero());
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(rest);
    left = {.tv_sec = seconds.count(), .tv_nsec = (rest - seconds).count()};
  }
  const int count = ::ppoll(asked.data(), asked.size(), left ? &*left : nullptr, nullptr);
  if (count < 0 && errno != EINTR) return system_failure(errno, "wait for data on " + link().name);
  return count != 0 || !limit || clock::now() < *limit;
}

result<data_message> hybrid_endpoint::receive_data() {
  for (;;) {
    auto found = try_receive_data();
    if (!found) return std::unexpected(found.error());
    if (*found) return std::move(**found);
    if (const auto waited = wait(std::nullopt); !waited) return std::unexpected(waited.error());
  }
}

result<data_message> hybrid_endpoint::receive_data_with_timeout(std::chrono::milliseconds timeout) {
  const auto limit = clock::now() + timeout;
  for (;;) {
    auto found = try_receive_data();
    if (!found) return std::unexpected(found.error());
    if (*found) return std::move(**found);
    const auto waited = wait(limit);
    if (!waited) return std::unexpected(waited.error());
    if (!*waited || clock::now() >= limit) {
      return failure(errc::timed_out, "receive data on " + link().name,
                     "none came in " + std::to_string(timeout.count()) + " ms");
    }
  }
}

result<void> hybrid_endpoint::receive_each(const std::function<bool(const data_message&)>& handler,
                                           const std::stop_token& stop) {
  const auto receive = [this] { return try_receive_data(); };
  const auto wait_beside = [this](int stop_fd) -> result<void> {
    const auto waited = wait(std::nullopt, stop_fd);
    if (!waited) return std::unexpected(waited.error());
    return {};
  };
  return receive_until(stop, handler, receive, wait_beside);
}

result<hybrid_listener> hybrid_listener::listen(std::string_view interface_name,
                                                const hybrid_config& config) {
  auto on = check(interface_name, config);
  if (!on) return std::unexpected(on.error());
  // A process that may not open sockets gets the error now, and not when the first client connects.
  if (auto may = l2::raw_socket::create_bound(on->name, {.receives = false}); !may) {
    return std::unexpected(may.error());
  }
  auto fd = listen_tcp(config.listen_address, config.tcp_port);
  if (!fd) return std::unexpected(fd.error());
  const auto port = port_of(fd->get());
  return hybrid_listener(std::move(*on), std::move(*fd), port, config);
}

result<hybrid_endpoint> hybrid_listener::accept() {
  const auto limit = clock::now() + config_.timeout;
  std::string refused;
  for (;;) {
    auto caller = accept_tcp(fd_.get(), limit);
    if (!caller) {
      if (!refused.empty()) caller.error().reason += "; the last client failed: " + refused;
      return std::unexpected(std::move(caller.error()));
    }
    auto made = hybrid_endpoint::greet(on_, std::move(*caller), config_,
                                       std::min(limit, clock::now() + config_.greeting_timeout));
    if (made || made.error().code == errc::permission_denied) return made;
    refused = describe(made.error());
  }
}

}  // namespace strata::ipc
