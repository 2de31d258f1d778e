#include "audience.hpp"

#include <algorithm>
#include <string>

#include "clock.hpp"
#include "failure.hpp"
#include "resp.hpp"

namespace strata::bench {

namespace {

constexpr std::uint64_t sender_token = ~std::uint64_t{0};
constexpr std::size_t scratch_size = 4 * message_format::max_size;
constexpr std::uint64_t patience_ns = 2'000'000'000;

}  // namespace

audience::audience(const options& wanted, std::uint64_t receivers)
    : format_(wanted.size), scratch_(scratch_size) {
  std::string subscribe;
  append_command(subscribe, {"SUBSCRIBE", channel});
  receivers_.reserve(receivers);
  for (std::uint64_t i = 0; i < receivers; ++i) {
    owned_fd socket = connect_loopback(wanted.server_port());
    if (wanted.speak == protocol::redis) send_whole(socket, subscribe);
    poller_.add(socket.get(), EPOLLIN, i);
    receivers_.emplace_back(std::move(socket), wanted.speak);
  }
}

void audience::attend(sender& source) {
  sender_ = &source;
  // Edge-triggered: told once when it becomes writable again, without arming and disarming.
  poller_.add(source.fd(), EPOLLIN | EPOLLOUT | EPOLLET, sender_token);
}

void audience::dismiss(sender& source) {
  poller_.remove(source.fd());
  sender_ = nullptr;
}

bool audience::probe(sender& source, double seconds) {
  const std::uint64_t start = now_ns();
  std::uint64_t next = start;
  while (probed() < receivers_.size()) {
    const std::uint64_t now = now_ns();
    if (now > start + to_ns(seconds)) return false;
    if (now >= next) {
      source.send_probe();
      next = now + 300'000'000;
    }
    poll(10);
  }
  // Probes that are still under way come before the first message, on the same connection.
  return true;
}

void audience::poll(int timeout_ms) {
  for (const epoll_event& event : poller_.wait(timeout_ms)) {
    if (event.data.u64 == sender_token) {
      sender_->on_ready();
      continue;
    }
    receiver& ready = receivers_[event.data.u64];
    if (!ready.connected()) continue;
    ready.receive(scratch_, format_, delays_);
    last_ns_ = now_ns();
  }
}

void audience::drain(std::uint64_t sequence) {
  std::uint64_t quiet_since = now_ns();
  while (slowest() < sequence && now_ns() < quiet_since + patience_ns) {
    poll(10);
    quiet_since = std::max(quiet_since, last_ns_);
  }
}

std::uint64_t audience::slowest() const {
  std::uint64_t least = ~std::uint64_t{0};
  for (const receiver& one : receivers_) {
    if (one.connected()) least = std::min(least, one.position());
  }
  return least;
}

std::uint64_t audience::probed() const {
  return static_cast<std::uint64_t>(std::ranges::count_if(receivers_, &receiver::probed));
}

std::uint64_t audience::disconnected() const {
  return receivers_.size() -
         static_cast<std::uint64_t>(std::ranges::count_if(receivers_, &receiver::connected));
}

tally audience::counts() const {
  tally sum;
  for (const receiver& one : receivers_) sum += one.counts();
  return sum;
}

}  // namespace strata::bench
