#include "loop/backends/sim_loop.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "loop/backends/sim_operation.hpp"

namespace strata::loop {

sim_loop::~sim_loop() {
  end_tasks();
  while (has_work()) turn(false);
}

result<descriptor> sim_loop::listen(const socket_address& address, const listen_options& options) {
  auto* const taken = world_.listener_for(address);
  if (taken != nullptr && !(taken->shares_port && options.share_port)) {
    return system_failure(EADDRINUSE, "listen on " + address.text());
  }
  auto made = std::make_unique<sim_world::endpoint>();
  made->is = sim_world::endpoint::role::listener;
  made->home = this;
  made->local = address;
  made->shares_port = options.share_port;
  if (address.port() == 0) made->local.set_port(world_.free_port());
  return descriptor(*this, world_.add(std::move(made)));
}

result<descriptor> sim_loop::open_stream(int /*family*/, int /*protocol*/) {
  auto made = std::make_unique<sim_world::endpoint>();
  made->home = this;
  return descriptor(*this, world_.add(std::move(made)));
}

result<descriptor> sim_loop::open_datagram(int /*family*/, const socket_address& address,
                                           const listen_options& options) {
  auto made = std::make_unique<sim_world::endpoint>();
  made->is = sim_world::endpoint::role::datagram;
  made->home = this;
  made->local = address.size() != 0 ? address : *socket_address::from_ip("127.0.0.1", 0);
  made->shares_port = options.share_port;
  if (made->local.port() == 0) made->local.set_port(world_.free_port());
  return descriptor(*this, world_.add(std::move(made)));
}

result<void> sim_loop::probe_stream(const socket_address& address, int /*protocol*/) {
  if (auto made = listen(address, {}); !made) return std::unexpected(made.error());
  return {};
}

result<void> sim_loop::probe_datagram(const socket_address& address) {
  if (auto made = open_datagram(address.family(), address, {}); !made) {
    return std::unexpected(made.error());
  }
  return {};
}

result<descriptor> sim_loop::open_append(const std::string& path) {
  auto made = std::make_unique<sim_world::endpoint>();
  made->is = sim_world::endpoint::role::file;
  made->home = this;
  made->path = path;
  world_.files_[path];
  return descriptor(*this, world_.add(std::move(made)));
}

socket_address sim_loop::local_address(const descriptor& descriptor) const {
  return world_.find(descriptor.fd())->local;
}

socket_address sim_loop::remote_address(const descriptor& descriptor) const {
  return world_.find(descriptor.fd())->remote;
}

// Counts bytes until the peer has read them: a simulated reset drops even those that have arrived.
std::size_t sim_loop::unacknowledged(const descriptor& descriptor) const {
  const auto* const peer = world_.by_id(world_.find(descriptor.fd())->peer);
  return peer == nullptr ? 0 : peer->on_the_way + peer->received.size();
}

void sim_loop::shut_down(const descriptor& descriptor) {
  auto& end = *world_.find(descriptor.fd());
  shut_down_send(descriptor);
  end.peer_ended = true;
  end.received.clear();
  world_.progress(end);
}

void sim_loop::shut_down_send(const descriptor& descriptor) {
  auto& end = *world_.find(descriptor.fd());
  if (end.send_ended) return;
  end.send_ended = true;
  world_.transmit_end(end, false);
}

void sim_loop::send_at_once(const descriptor& descriptor, byte_span bytes) {
  auto& end = *world_.find(descriptor.fd());
  if (end.send_ended || end.reset || world_.by_id(end.peer) == nullptr) return;
  world_.transmit(end, std::string(as_text(bytes)));
}

task<result<std::vector<socket_address>>> sim_loop::resolve(std::string host, std::uint16_t port) {
  if (host == "localhost") host = "127.0.0.1";
  const auto known = world_.names.find(host);
  const auto meant = known != world_.names.end() ? known->second : std::vector{host};
  if (meant.empty()) co_await sleep(std::chrono::hours(24));
  co_await sleep(world_.random_delay());
  std::vector<socket_address> found;
  for (const auto& each : meant) {
    auto address = socket_address::from_ip(each, port);
    if (!address) co_return failure(errc::not_found, "find the address of '" + host + "'");
    found.push_back(*address);
  }
  co_return found;
}

task<result<host_records>> sim_loop::resolve_records(std::string host, std::uint16_t port) {
  auto found = co_await resolve(std::move(host), port);
  if (!found) co_return std::unexpected(found.error());
  host_records records{.addresses = std::move(*found), .lifetime = std::chrono::seconds(30)};
  co_return records;
}

sim_world::sim_operation& sim_loop::ask(operation::kind kind, const descriptor& descriptor,
                                        request& asker) {
  auto* made = new sim_world::sim_operation(kind, &asker, descriptor.fd(), *this);
  attach(asker, *made);
  return *made;
}

void sim_loop::accept(const descriptor& descriptor, request& asker) {
  world_.start(ask(operation::kind::accept, descriptor, asker));
}

void sim_loop::receive(const descriptor& descriptor, request& asker) {
  world_.start(ask(operation::kind::receive, descriptor, asker));
}

void sim_loop::receive_from(const descriptor& descriptor, request& asker) {
  world_.start(ask(operation::kind::receive_from, descriptor, asker));
}

void sim_loop::send(const descriptor& descriptor, std::span<const slice> data, request& asker) {
  auto& made = ask(operation::kind::send, descriptor, asker);
  for (const auto& each : data.first(std::min(data.size(), max_send_slices))) {
    made.bytes += as_text(each.bytes());
  }
  world_.start(made);
}

void sim_loop::send_file(const descriptor& descriptor, const file_part& part, request& asker) {
  auto& made = ask(operation::kind::send, descriptor, asker);
  made.bytes.resize(static_cast<std::size_t>(std::min<std::uint64_t>(part.count, 64U << 10U)));
  const auto got =
      ::pread(part.fd, made.bytes.data(), made.bytes.size(), static_cast<off_t>(part.offset));
  made.bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  if (got > 0) {
    world_.start(made);
  } else {
    deliver_result(made, got < 0 ? -errno : 0, false);
  }
}

void sim_loop::send_to(const descriptor& descriptor, const socket_address& address, slice datagram,
                       request& asker) {
  auto& made = ask(operation::kind::send_to, descriptor, asker);
  made.bytes = as_text(datagram.bytes());
  made.to = address;
  world_.start(made);
}

void sim_loop::connect(const descriptor& descriptor, const socket_address& address,
                       request& asker) {
  auto& made = ask(operation::kind::connect, descriptor, asker);
  made.to = address;
  world_.start(made);
}

void sim_loop::poll(const descriptor& descriptor, unsigned /*events*/, request& asker) {
  world_.start(ask(operation::kind::poll, descriptor, asker));
}

void sim_loop::write(const descriptor& descriptor, slice data, request& asker) {
  auto& made = ask(operation::kind::write, descriptor, asker);
  made.bytes = as_text(data.bytes());
  world_.start(made);
}

void sim_loop::sync(const descriptor& file, request& asker) {
  world_.start(ask(operation::kind::sync, file, asker));
}

void sim_loop::close_fd(int fd) { world_.close(fd); }

void sim_loop::cancel(operation& operation) {
  world_.cancel(static_cast<sim_world::sim_operation&>(operation));
}

void sim_loop::give_back(std::uint32_t id) {
  lent_.erase(id);
  if (!starved_.empty()) world_.feed(std::exchange(starved_, {}));
}

void sim_loop::check_lent() const {
  if (has_events() || lent_.empty()) return;
  std::fprintf(stderr, "a coroutine that waits holds %zu of the loop's buffers\n", lent_.size());
  std::abort();
}

void sim_loop::deliver_bytes(operation& operation, std::string bytes,
                             const socket_address& address) {
  const auto id = next_buffer_++;
  auto& held = lent_[id] = std::move(bytes);
  queue({.of = &operation,
         .result = static_cast<int>(held.size()),
         .more = true,
         .data = {*this, id, as_bytes(held)},
         .from = address});
}

}  // namespace strata::loop
