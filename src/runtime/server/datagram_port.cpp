#include "runtime/server/datagram_port.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>

#include "net/ethernet/link_watch.hpp"
#include "text/secret.hpp"

namespace strata::runtime::server {

using namespace std::chrono_literals;

namespace {

constexpr std::string_view joined_answer = "joined";

// A peer that has sent fewer messages may be a forged address.
constexpr std::uint64_t known_after = 3;  // messages

}  // namespace

class datagram_port::peer final : public member {
 public:
  peer(shard& shard, datagram_port& port, const loop::socket_address& address, bool is_stranger,
       serve::connection_gauge::place place)
      : member(shard, encoding::raw, presence::datagrams),
        port_(port),
        address_(address),
        is_stranger_(is_stranger),
        place_(std::move(place)) {}

  std::size_t offer(const batch& messages) override {
    std::size_t taken = 0;
    for (const auto& each : messages.messages()) {
      if (each.size > port_.wire_->max_size()) {
        home_.count().drop_message(drop::too_large);
      } else if (!port_.wire_->is_up()) {
        home_.count().drop_message(drop::link);
      } else if (is_stranger_ && !port_.may_send(*this, each.size)) {
        home_.count().drop_message(drop::stranger);
      } else if (port_.wire_->send(address_, messages.part(each))) {
        home_.count_out(*this, 1, each.size);
        port_.losses_.look_soon(*port_.wire_);
        ++taken;
      } else {
        home_.count().drop_message(drop::slow_client);
      }
    }
    return taken;
  }
  // It is removed at the next sweep.
  void dismiss(parting /*why*/) override { last_active = loop::time_point::min(); }

  [[nodiscard]] loop::socket_address address() const override { return address_; }
  [[nodiscard]] std::string_view protocol() const override {
    return address_.family() == AF_PACKET ? "l2" : "udp";
  }
  [[nodiscard]] bool is_stranger() const { return is_stranger_; }

  std::uint64_t received = 0;  ///< messages received from it
  std::uint64_t credit = 0;    ///< bytes that may be sent to a stranger, earned by what it has sent

 private:
  datagram_port& port_;
  loop::socket_address address_;
  bool is_stranger_;
  serve::connection_gauge::place place_;
};

datagram_port::datagram_port(shard& shard, std::unique_ptr<net::datagram> wire)
    : datagram_port(shard, std::move(wire), {}, {}) {}

datagram_port::datagram_port(shard& shard, std::unique_ptr<net::datagram> wire,
                             std::string interface_name, opener reopen)
    : home_(shard),
      losses_(shard.loop(), [this](const auto& lost) { on_loss(lost); }),
      interface_name_(std::move(interface_name)),
      reopen_(std::move(reopen)) {
  take(std::move(wire));
}

datagram_port::~datagram_port() = default;

loop::task<> datagram_port::run() {
  if (!wire_) co_await open_again("does not exist");
  for (;;) {
    auto got = co_await wire_->receive();
    if (got.result == -ENODEV && reopen_) {
      co_await open_again("was removed");
    } else if (got.result < 0 && got.result != -EMSGSIZE) {
      co_await home_.loop().sleep(on_failure(-got.result));
    } else {
      on_datagram(std::move(got));
    }
  }
}

loop::duration datagram_port::on_failure(int code) {
  home_.count().errors.add();
  // For UDP it is the ICMP error of an earlier datagram, which is not worth a line.
  if (reopen_ && !std::exchange(failing_, true)) {
    home_.state().log->write(level::warning, describe(system_error(code, "receive",
                                                                   "receiving resumes "
                                                                   "automatically")));
  }
  return 1ms;
}

loop::task<> datagram_port::open_again(std::string_view text) {
  home_.state().log->write(
      level::error,
      fmt::format("cannot receive: the interface '{}' {}; receiving resumes when it appears",
                  interface_name_, text));
  for (;;) {
    co_await net::link_comes(home_.loop(), interface_name_, 1s);
    auto opened = reopen_();
    if (!opened) continue;
    home_.state().log->write(level::info,
                             fmt::format("the interface '{}' has appeared", interface_name_));
    take(std::move(*opened));
    co_return;
  }
}

// Datagrams that the kernel refused had been counted as sent.
void datagram_port::on_loss(const net::loss_watch::losses& lost) {
  refused_ += lost.unsent;
  home_.count().errors.add(lost.unsent);
  home_.count().drop_message(drop::refused, lost.unsent);
  home_.count().drop_message(drop::kernel, lost.unreceived);
}

std::uint64_t datagram_port::flush() {
  if (!wire_) return 0;
  wire_->flush();
  refused_ = 0;
  losses_.look();
  return refused_;
}

void datagram_port::take(std::unique_ptr<net::datagram> wire) {
  losses_.forget();
  wire_ = std::move(wire);
  if (!wire_) return;
  wire_->on_notice([this](bool is_trouble, const std::string& text) {
    if (is_trouble) home_.count().errors.add();
    home_.state().log->write(is_trouble ? level::warning : level::info, text);
  });
}

void datagram_port::on_datagram(net::datagram::arrival arrival) {
  failing_ = false;
  losses_.look_soon(*wire_);
  const auto bytes = arrival.data.bytes();
  if (arrival.result == -EMSGSIZE) {
    home_.count().drop_message(drop::too_large);
    return;
  }
  auto* const sender = peer_of(arrival.from, bytes);
  if (sender == nullptr && bytes.empty()) return;
  if (sender == nullptr) {
    home_.count().connections_refused.add();
    return;
  }
  sender->last_active = home_.loop().now();
  home_.count_in(*sender, bytes.size());
  // An empty datagram only shows that its sender is still there.
  if (bytes.empty()) return;
  if (is_token(arrival.from, bytes)) {
    // The first answer may have been lost, so it is repeated.
    (void)wire_->send(arrival.from, loop::slice::copy_of(as_bytes(joined_answer)));
    return;
  }
  if (bytes.size() > home_.options().max_message) {
    home_.count().drop_message(drop::too_large);
    return;
  }
  if (sender->is_stranger() && !accepts(*sender, bytes)) {
    home_.count().drop_message(drop::repeat);
    return;
  }
  home_.on_message(*sender, {bytes});
  home_.publish();
}

datagram_port::peer* datagram_port::peer_of(const loop::socket_address& address, byte_span bytes) {
  if (const auto found = peers_.find(address); found != peers_.end()) return found->second.get();
  if (bytes.empty() || peers_.size() >= home_.options().max_peers) return nullptr;
  const bool is_udp = stranger_guard::is_for(address);
  const bool must_join = is_udp && !home_.options().udp_join.empty();
  if (must_join && !is_token(address, bytes)) return nullptr;
  auto place = home_.state().connections.enter_beside();
  auto made = std::make_unique<peer>(home_, *this, address, is_udp && !must_join, std::move(place));
  return peers_.emplace(address, std::move(made)).first->second.get();
}

bool datagram_port::is_token(const loop::socket_address& address, byte_span bytes) const {
  const auto& token = home_.options().udp_join;
  return !token.empty() && stranger_guard::is_for(address) &&
         text::equal_in_constant_time(as_text(bytes), token);
}

stranger_guard& datagram_port::guard() {
  if (!guard_) guard_ = std::make_unique<stranger_guard>();
  return *guard_;
}

bool datagram_port::accepts(peer& stranger, byte_span bytes) {
  if (home_.options().udp_allowance == 0) return true;
  const auto earned =
      stranger_guard::factor * stranger_guard::wire_size(stranger.address(), bytes.size());
  ++stranger.received;
  stranger.credit = std::min(stranger.credit + earned, stranger_guard::most_credit);
  return !guard().is_repeated(stranger.id(), bytes, home_.loop().now());
}

bool datagram_port::may_send(peer& stranger, std::size_t bytes) {
  const auto allowance = home_.options().udp_allowance;
  if (allowance == 0) return true;
  if (stranger.received < known_after && wire_->is_stuck()) return false;
  const auto size = stranger_guard::wire_size(stranger.address(), bytes);
  if (stranger.credit >= size) {
    stranger.credit -= size;
    return true;
  }
  if (guard().allows(stranger.address(), size, home_.loop().now(), allowance)) return true;
  if (!std::exchange(has_reported_strangers_, true)) {
    home_.state().log->write(
        level::warning,
        fmt::format("messages to the UDP peer {} are dropped: a peer is sent three times what it "
                    "sent, and those of its network {} bytes a second beyond that; "
                    "have peers join (--udp-join) or raise --udp-allowance",
                    stranger.address().text(), allowance),
        fmt::format("#{}", stranger.id()));
  }
  return false;
}

void datagram_port::forget_udp_peers() {
  boost::unordered::erase_if(peers_,
                             [](const auto& each) { return stranger_guard::is_for(each.first); });
}

void datagram_port::expire(loop::time_point oldest) {
  boost::unordered::erase_if(peers_,
                             [&](const auto& each) { return each.second->last_active < oldest; });
}

}  // namespace strata::runtime::server
