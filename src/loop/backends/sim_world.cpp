#include "loop/backends/sim_world.hpp"

#include <algorithm>
#include <cerrno>

#include "loop/backends/sim_loop.hpp"
#include "loop/backends/sim_operation.hpp"

namespace strata::loop {

namespace {

constexpr std::size_t window = 4096;  // bytes that one direction of a connection holds; small, so
                                      // that it fills soon
constexpr std::size_t largest_read = 16384;
constexpr std::size_t datagram_queue = 64;
constexpr std::size_t accept_queue = 64;
constexpr auto retry_after = std::chrono::seconds(1);  // for a client that finds the backlog full

}  // namespace

sim_world::sim_world(std::uint64_t seed) : seed_(seed), random_(seed) {}

sim_world::~sim_world() = default;

sim_loop& sim_world::add_loop() {
  loops_.push_back(std::make_unique<sim_loop>(*this));
  return *loops_.back();
}

void sim_world::end_tasks_beside(const sim_loop& kept) {
  for (const auto& each : loops_) {
    if (each.get() != &kept) each->end_tasks();
  }
}

bool sim_world::chance(double probability) {
  return probability > 0 &&
         static_cast<double>(draw(1U << 20U)) < probability * static_cast<double>(1U << 20U);
}

duration sim_world::random_delay() {
  return duration(
      static_cast<std::int64_t>(draw(static_cast<std::uint64_t>(faults.max_delay.count()) + 1)));
}

void sim_world::schedule(duration delay, std::function<void()> what) {
  scheduled_.emplace(now_ + delay, std::move(what));
}

bool sim_world::step(time_point until) {
  std::vector<sim_loop*> ready;
  for (const auto& each : loops_) {
    if (each->runnable()) ready.push_back(each.get());
  }
  if (!ready.empty()) {
    auto& next = *ready[draw(ready.size())];
    next.turn(false);
    next.check_lent();
    return true;
  }
  auto next = scheduled_.empty() ? time_point::max() : scheduled_.begin()->first;
  for (const auto& each : loops_) next = std::min(next, each->due());
  if (next > until) return false;
  now_ = std::max(now_, next);
  while (!scheduled_.empty() && scheduled_.begin()->first <= now_) {
    const auto what = std::move(scheduled_.begin()->second);
    scheduled_.erase(scheduled_.begin());
    what();
  }
  return true;
}

bool sim_world::run_until(const std::function<bool()>& done, duration limit) {
  const auto until = now_ + limit;
  while (!done()) {
    if (!step(until)) {
      now_ = until;
      return done();
    }
  }
  return true;
}

void sim_world::run_for(duration span) {
  run_until([] { return false; }, span);
}

std::size_t sim_world::open_count() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(endpoints_, [](const auto& each) { return each != nullptr; }));
}

// Assigns the lowest free number, as the kernel does: numbers are soon reused.
int sim_world::add(std::unique_ptr<endpoint> endpoint) {
  endpoint->id = next_id_++;
  const auto free = std::ranges::find_if(endpoints_, [](const auto& each) { return !each; });
  const auto fd = free - endpoints_.begin();
  if (free == endpoints_.end()) {
    endpoints_.push_back(std::move(endpoint));
  } else {
    *free = std::move(endpoint);
  }
  return static_cast<int>(fd);
}

sim_world::endpoint* sim_world::find(int fd) {
  return static_cast<std::size_t>(fd) < endpoints_.size()
             ? endpoints_[static_cast<std::size_t>(fd)].get()
             : nullptr;
}

sim_world::endpoint* sim_world::by_id(std::uint64_t id) {
  for (const auto& each : endpoints_) {
    if (each && each->id == id) return each.get();
  }
  return nullptr;
}

std::uint16_t sim_world::free_port() { return next_port_++; }

sim_world::endpoint* sim_world::listener_for(const socket_address& address) {
  std::vector<endpoint*> found;
  for (const auto& each : endpoints_) {
    if (each && each->is == endpoint::role::listener && each->local.port() == address.port()) {
      found.push_back(each.get());
    }
  }
  return found.empty() ? nullptr : found[draw(found.size())];
}

sim_world::endpoint* sim_world::datagram_for(const socket_address& address) {
  std::vector<endpoint*> found;
  for (const auto& each : endpoints_) {
    if (each && each->is == endpoint::role::datagram && each->local.port() == address.port()) {
      found.push_back(each.get());
    }
  }
  // One sender's datagrams all reach one socket, as SO_REUSEPORT's hash does.
  return found.empty() ? nullptr : found.front();
}

void sim_world::close(int fd) {
  auto gone = std::move(endpoints_[static_cast<std::size_t>(fd)]);
  if (gone->reader != nullptr) finish(*gone->reader, -ECANCELED);
  for (auto* each : gone->writers) finish(*each, -ECANCELED);
  for (const auto waiting : gone->waiting) {
    if (auto* refused = by_id(waiting)) {
      const auto at =
          std::ranges::find_if(endpoints_, [&](const auto& each) { return each.get() == refused; });
      reset_pair(*refused);
      at->reset();
    }
  }
  if (gone->is == endpoint::role::stream && gone->peer != 0) {
    transmit_end(*gone, !gone->received.empty());
  }
}

void sim_world::start(sim_operation& operation) {
  operation.id = next_id_++;
  operations_[operation.id] = &operation;
  auto* const on = find(operation.fd);
  switch (operation.type) {
    case operation::kind::accept:
    case operation::kind::receive:
    case operation::kind::receive_from:
    case operation::kind::poll: on->reader = &operation; break;
    case operation::kind::send:
    case operation::kind::send_file: on->writers.push_back(&operation); break;
    case operation::kind::connect: begin_connect(operation); return;
    case operation::kind::send_to: send_datagram(*on, operation); return;
    case operation::kind::write: write_file(*on, operation); return;
    case operation::kind::sync: sync_file(*on, operation); return;
  }
  schedule(random_delay(), [this, id = on->id] {
    if (auto* still = by_id(id)) progress(*still);
  });
}

void sim_world::cancel(sim_operation& operation) {
  // As in a kernel, a canceled operation may still complete before the cancellation reaches it.
  schedule(random_delay(), [this, id = operation.id] {
    const auto found = operations_.find(id);
    if (found == operations_.end()) return;
    auto& pending = *found->second;
    if (auto* const on = find(pending.fd)) {
      if (on->reader == &pending) on->reader = nullptr;
      std::erase(on->writers, &pending);
    }
    finish(pending, -ECANCELED);
  });
}

void sim_world::finish(sim_operation& operation, int result, bool more) {
  if (!more) operations_.erase(operation.id);
  operation.from.deliver_result(operation, result, more);
}

void sim_world::begin_connect(sim_operation& operation) {
  auto* const on = find(operation.fd);
  on->writers.push_back(&operation);
  if (on->is == endpoint::role::datagram) {
    on->remote = operation.to;
    on->writers.clear();
    finish(operation, 0);
    return;
  }
  const auto host = operation.to.text();
  if (black_holes.contains(host.substr(0, host.rfind(':')))) return;
  on->local = *socket_address::from_ip("127.0.0.1", free_port());
  schedule(random_delay(), [this, id = on->id, to = operation.to] { arrive_connection(id, to); });
}

void sim_world::arrive_connection(std::uint64_t client_id, const socket_address& address) {
  auto* const client = by_id(client_id);
  if (client == nullptr || client->writers.empty()) return;
  auto& asked = *client->writers.front();
  auto* const listener = listener_for(address);
  if (listener != nullptr && listener->waiting.size() >= accept_queue) {
    schedule(retry_after, [this, client_id, address] { arrive_connection(client_id, address); });
    return;
  }
  client->writers.pop_front();
  if (listener == nullptr) {
    finish(asked, -ECONNREFUSED);
    return;
  }
  auto made = std::make_unique<endpoint>();
  made->home = listener->home;
  made->local = address;
  made->remote = client->local;
  made->peer = client->id;
  auto* const server = made.get();
  const auto listener_id = listener->id;
  add(std::move(made));
  client->peer = server->id;
  client->remote = address;
  auto* const still = by_id(listener_id);
  still->waiting.push_back(server->id);
  finish(asked, 0);
  progress(*still);
}

void sim_world::progress(endpoint& endpoint) {
  if (endpoint.is == endpoint::role::listener) {
    progress_accept(endpoint);
  } else if (endpoint.is == endpoint::role::datagram) {
    progress_datagrams(endpoint);
  } else {
    progress_send(endpoint);
    progress_receive(endpoint);
  }
}

void sim_world::progress_accept(endpoint& endpoint) {
  while (endpoint.reader != nullptr && !endpoint.waiting.empty()) {
    if (chance(faults.accept_failure)) {
      finish(*std::exchange(endpoint.reader, nullptr), -EMFILE);
      return;
    }
    const auto id = endpoint.waiting.front();
    endpoint.waiting.pop_front();
    for (std::size_t fd = 0; fd < endpoints_.size(); ++fd) {
      if (endpoints_[fd] && endpoints_[fd]->id == id) {
        finish(*endpoint.reader, static_cast<int>(fd), true);
      }
    }
  }
}

void sim_world::progress_receive(endpoint& endpoint) {
  if (endpoint.reader == nullptr) return;
  if (endpoint.reset) {
    finish(*std::exchange(endpoint.reader, nullptr), -ECONNRESET);
    return;
  }
  if (!endpoint.received.empty()) {
    if (!finds_buffer(endpoint)) return;
    std::size_t size = std::min(endpoint.received.size(), largest_read);
    if (chance(faults.short_read)) size = 1 + draw(size);
    endpoint.reader->from.deliver_bytes(*endpoint.reader, endpoint.received.substr(0, size), {});
    endpoint.received.erase(0, size);
    const auto ids = std::array{endpoint.id, endpoint.peer};
    schedule(random_delay(), [this, ids] {
      for (const auto id : ids) {
        if (auto* still = by_id(id)) progress(*still);
      }
    });
  } else if (endpoint.peer_ended) {
    finish(*std::exchange(endpoint.reader, nullptr), 0);
  }
}

// A receive that finds no buffer waits for the next one that is returned, or fails at once.
bool sim_world::finds_buffer(endpoint& endpoint) {
  const bool has = endpoint.reader->from.has_buffer();
  if (has && !chance(faults.no_buffers)) return true;
  if (has || chance(0.5)) {
    finish(*std::exchange(endpoint.reader, nullptr), -ENOBUFS);
  } else {
    endpoint.reader->from.starved_.push_back(endpoint.id);
  }
  return false;
}

void sim_world::feed(const std::vector<std::uint64_t>& starved) {
  for (const auto each : starved) {
    schedule(random_delay(), [this, each] {
      if (auto* still = by_id(each)) progress(*still);
    });
  }
}

void sim_world::progress_send(endpoint& endpoint) {
  while (!endpoint.writers.empty() && endpoint.writers.front()->type == operation::kind::send) {
    auto& of = *endpoint.writers.front();
    auto* const peer = by_id(endpoint.peer);
    if (endpoint.reset || endpoint.send_ended || peer == nullptr) {
      endpoint.writers.pop_front();
      finish(of, endpoint.reset ? -ECONNRESET : -EPIPE);
      continue;
    }
    const auto used = peer->received.size() + peer->on_the_way;
    if (used >= window) return;
    std::size_t size = std::min(of.bytes.size(), window - used);
    if (chance(faults.short_write)) size = 1 + draw(size);
    endpoint.writers.pop_front();
    transmit(endpoint, of.bytes.substr(0, size));
    finish(of, static_cast<int>(size));
  }
}

void sim_world::transmit(endpoint& endpoint, std::string bytes) {
  auto* const peer = by_id(endpoint.peer);
  peer->on_the_way += bytes.size();
  const auto arrival = std::max(now_ + random_delay(), peer->last_arrival);
  peer->last_arrival = arrival;
  schedule(arrival - now_, [this, id = peer->id, bytes = std::move(bytes)] {
    auto* const at = by_id(id);
    if (at == nullptr) return;
    at->on_the_way -= bytes.size();
    if (at->reset) return;
    if (chance(faults.reset)) {
      reset_pair(*at);
      return;
    }
    if (!at->peer_ended) at->received += bytes;
    progress(*at);
  });
}

void sim_world::transmit_end(endpoint& endpoint, bool reset) {
  auto* const peer = by_id(endpoint.peer);
  if (peer == nullptr) return;
  const auto arrival = std::max(now_ + random_delay(), peer->last_arrival);
  peer->last_arrival = arrival;
  schedule(arrival - now_, [this, id = peer->id, reset] {
    auto* const at = by_id(id);
    if (at == nullptr) return;
    if (reset) {
      reset_pair(*at);
      return;
    }
    at->peer_ended = true;
    progress(*at);
  });
}

void sim_world::reset_pair(endpoint& one) {
  one.reset = true;
  one.received.clear();
  auto* const other = by_id(one.peer);
  if (other != nullptr) {
    other->reset = true;
    other->received.clear();
    progress(*other);
  }
  progress(one);
}

void sim_world::send_datagram(endpoint& endpoint, sim_operation& operation) {
  const socket_address to = operation.to.size() != 0 ? operation.to : endpoint.remote;
  const int copies = chance(faults.datagram_loss) ? 0 : chance(faults.datagram_duplicate) ? 2 : 1;
  for (int i = 0; i < copies; ++i) {
    // Datagrams are not ordered: each takes its own time.
    schedule(random_delay(), [this, to, sender = endpoint.local, bytes = operation.bytes] {
      auto* const at = datagram_for(to);
      if (at == nullptr || at->datagrams.size() >= datagram_queue) return;
      at->datagrams.emplace_back(sender, bytes);
      progress(*at);
    });
  }
  finish(operation, static_cast<int>(operation.bytes.size()));
}

void sim_world::progress_datagrams(endpoint& endpoint) {
  while (endpoint.reader != nullptr && !endpoint.datagrams.empty()) {
    if (!finds_buffer(endpoint)) return;
    auto [from, bytes] = std::move(endpoint.datagrams.front());
    endpoint.datagrams.pop_front();
    endpoint.reader->from.deliver_bytes(*endpoint.reader, std::move(bytes), from);
  }
}

}  // namespace strata::loop
