#include "runtime/server/udp_port.hpp"

#include <cerrno>

namespace strata::runtime {

class udp_port::peer final : public member {
 public:
  peer(shard& home, udp_port& port, const loop::socket_address& address)
      : member(home, true), port_(port), address_(address) {}

  void offer(const batch& messages) override {
    for (const auto& range : messages.messages) {
      if (port_.wire_.send(address_, messages.framed.part(range.offset, range.size))) {
        home_.count_out(1, range.size);
      } else {
        home_.count().drop_message(drop::slow_client);
      }
    }
  }
  // It is forgotten at the next sweep.
  void dismiss() override { last_active = loop::time_point::min(); }

 private:
  udp_port& port_;
  loop::socket_address address_;
};

udp_port::udp_port(shard& home, loop::socket bound)
    : home_(home), wire_(home.owner(), std::move(bound)) {}

udp_port::~udp_port() = default;

loop::task<> udp_port::run() {
  for (;;) {
    auto got = co_await wire_.receive();
    home_.count().errors.add(wire_.take_send_errors());
    if (got.result == -EMSGSIZE) {
      home_.count().drop_message(drop::too_large);
      continue;
    }
    if (got.result < 0) {
      // An earlier datagram's ICMP error; the socket itself goes on.
      home_.count().errors.add();
      co_await home_.owner().sleep(std::chrono::milliseconds(1));
      continue;
    }
    auto* const sender = peer_of(got.from);
    if (sender == nullptr) {
      home_.count().refused.add();
      continue;
    }
    sender->last_active = home_.owner().now();
    home_.count().bytes_in.add(got.data.bytes().size());
    // An empty datagram only makes its sender known.
    if (got.data.empty()) continue;
    if (got.data.bytes().size() > home_.options().max_message) {
      home_.count().drop_message(drop::too_large);
      continue;
    }
    home_.on_message(*sender, got.data.bytes());
    home_.publish();
  }
}

udp_port::peer* udp_port::peer_of(const loop::socket_address& address) {
  if (const auto found = peers_.find(address); found != peers_.end()) return found->second.get();
  if (peers_.size() >= most_peers) return nullptr;
  if (!home_.state().connections.enter(home_.options().max_connections)) return nullptr;
  auto made = std::make_unique<peer>(home_, *this, address);
  return peers_.emplace(address, std::move(made)).first->second.get();
}

void udp_port::expire(loop::time_point oldest) {
  boost::unordered::erase_if(peers_,
                             [&](const auto& each) { return each.second->last_active < oldest; });
}

}  // namespace strata::runtime
