#include "runtime/server/shard.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "net/raw_ethernet.hpp"
#include "net/udp.hpp"
#include "runtime/server/datagram_port.hpp"
#include "runtime/server/session.hpp"

namespace strata::runtime {

using namespace std::chrono_literals;

shard::shard(server_state& shared, loop::loop& owner, std::size_t number, server_options options)
    : state_(shared),
      loop_(owner),
      number_(number),
      options_(std::move(options)),
      framing_(proto::framing_of(options_.framing)),
      log_(framing_) {}

shard::~shard() {
  listening_.cancel();
  serving_.cancel();
}

result<void> shard::open(std::vector<bind_target>& targets, bool share_port) {
  if (!options_.write.empty()) {
    auto opened = file_sink::open(loop_, options_.write, [this](const std::string& why) {
      counters_.errors.add();
      state_.log->write(level::error, why);
    });
    if (!opened) return std::unexpected(opened.error());
    file_ = std::move(*opened);
  }
  for (auto& target : targets) {
    if (auto opened = open_target(target, share_port); !opened) return opened;
  }
  for (auto& each : listeners_) listening_.spawn(accept_all(each));
  for (auto& each : datagram_ports_) listening_.spawn(each.run());
  return {};
}

result<void> shard::open_target(bind_target& target, bool share_port) {
  const loop::listen_options how{.share_port = share_port};
  if (target.url.kind == net::scheme::udp) {
    auto bound = loop_.open_datagram(target.address.family(), target.address, how);
    if (!bound) return std::unexpected(bound.error());
    target.address = loop_.local_address(*bound);
    datagram_ports_.emplace_back(*this, std::make_unique<net::udp>(loop_, std::move(*bound)));
    return {};
  }
  // A Unix socket's path or an interface cannot be shared: one shard serves it.
  if (target.url.is_for_one() && number_ != 0) return {};
  if (target.url.is_ethernet()) return open_ethernet(target.url);
  auto listening = loop_.listen(target.address, how);
  if (!listening) return std::unexpected(listening.error());
  if (target.url.kind == net::scheme::tcp) target.address = loop_.local_address(*listening);
  if (target.url.kind == net::scheme::unix_stream) socket_files_.emplace_back(target.url.path);
  listeners_.emplace_back(loop_, std::move(*listening));
  return {};
}

result<void> shard::open_ethernet(const net::endpoint_url& url) {
  const auto open = [this, url]() -> result<std::unique_ptr<net::datagram>> {
    return net::raw_ethernet::open(loop_, url);
  };
  auto wire = open();
  if (!wire) return std::unexpected(wire.error());
  datagram_ports_.emplace_back(*this, std::move(*wire), url.host, open);
  return {};
}

void shard::fall_silent() {
  silent_ = true;
  listening_.cancel();
  socket_files_.clear();
  listeners_.clear();
  on_turn_end();
}

loop::task<> shard::close(loop::time_point limit) {
  while (options_.drain && !delivered() && loop_.now() < limit) co_await loop_.sleep(5ms);
  // The file is drained whether or not the connections are: its messages were accepted.
  while (file_ && !file_->empty() && !file_->failing() && loop_.now() < limit) {
    co_await loop_.sleep(5ms);
  }
  if (options_.drain) {
    for (auto* each : members_) {
      if (auto* const stream = dynamic_cast<session*>(each)) stream->wire().end_sending();
    }
  }
  serving_.cancel();
  datagram_ports_.clear();
}

bool shard::delivered() const {
  return std::ranges::all_of(members_, [](member* each) {
    auto* const stream = dynamic_cast<session*>(each);
    return stream == nullptr || stream->wire().delivered();
  });
}

void shard::apply(const server_options& changed) {
  // Framing stays until the restart: connections are in the middle of it.
  const auto framing = options_.framing;
  options_ = changed;
  options_.framing = framing;
  arm_sweep();
}

std::uint64_t shard::next_id() {
  return number_ << shard_bits | state_.next_id.fetch_add(1, std::memory_order_relaxed);
}

void shard::enter(member& arrived) {
  arrived.last_active = loop_.now();
  arrived.position_ = members_.size();
  members_.push_back(&arrived);
  arm_sweep();
}

void shard::leave(member& gone) {
  state_.connections.leave();
  members_.back()->position_ = gone.position_;
  members_[gone.position_] = members_.back();
  members_.pop_back();
  auto id = gone.id();
  state_.master.compare_exchange_strong(id, 0);
}

member* shard::find(std::uint64_t id) {
  const auto found = std::ranges::find(members_, id, &member::id);
  return found == members_.end() ? nullptr : *found;
}

loop::task<> shard::accept_all(net::listener& from) {
  bool failing = false;
  for (;;) {
    auto connection = co_await from.accept();
    if (connection) {
      failing = false;
      if (state_.connections.enter(options_.max_connections)) {
        serving_.spawn(serve(std::move(*connection)));
      } else {
        counters_.refused.add();
      }
      continue;
    }
    // No descriptor or memory is left: those who wait stay in the kernel's queue meanwhile.
    counters_.errors.add();
    if (!failing) state_.log->write(level::error, describe(connection.error()));
    failing = true;
    co_await loop_.sleep(100ms);
  }
}

loop::task<> shard::serve(loop::socket connection) {
  session served(*this, std::move(connection));
  co_await served.run();
}

void shard::arm_sweep() {
  if (armed() || members_.empty()) return;
  auto shortest = options_.idle_timeout;
  if (!datagram_ports_.empty() && options_.peer_timeout > 0) {
    shortest = shortest == 0 ? options_.peer_timeout : std::min(shortest, options_.peer_timeout);
  }
  if (shortest == 0) return;
  loop_.arm_after(*this, loop::from_seconds(std::clamp(shortest / 4, 0.01, 5.0)));
}

void shard::on_timer() {
  const auto now = loop_.now();
  if (options_.idle_timeout > 0) {
    const auto oldest = now - loop::from_seconds(options_.idle_timeout);
    for (auto* each : members_) {
      if (!each->is_datagram() && each->last_active < oldest) each->dismiss();
    }
  }
  if (options_.peer_timeout > 0) {
    const auto oldest = now - loop::from_seconds(options_.peer_timeout);
    for (auto& each : datagram_ports_) each.expire(oldest);
  }
  arm_sweep();
}

bool shard::within_limits(member& from) {
  const auto now = loop_.now().time_since_epoch().count();
  if (!admit(from.rate_due, now, options_.rate_limit)) {
    counters_.drop_message(drop::rate_limit);
    return false;
  }
  if (!state_.rate.allow(now, options_.global_rate_limit)) {
    counters_.drop_message(drop::global_rate_limit);
    return false;
  }
  return true;
}

void shard::on_message(member& from, byte_span message) {
  if (silent_) return;
  counters_.messages_in.add();
  counters_.rate_in.add(second_of(loop_.now()), 1);
  if (!within_limits(from)) return;
  if (options_.mode == "out") {
    counters_.drop_message(drop::mode);
    return;
  }
  if (options_.mode == "master") {
    on_master_message(from, message);
    return;
  }
  if (file_ && !file_->append(message)) counters_.drop_message(drop::file);
  if (!state_.messages->idle()) {
    state_.messages->write(level::info, std::string(as_text(message)),
                           fmt::format("#{}", from.id()));
  }
  if (options_.mode == "inout") say(from, message);
}

void shard::say(member& from, byte_span message) {
  if (log_.must_take_before(message)) publish();
  speaker_ = from.id();
  log_.append(message);
  if (state_.shards.size() > 1) {
    far_.bytes += as_text(message);
    far_.sizes.push_back(static_cast<std::uint32_t>(message.size()));
    loop_.at_turn_end(*this);
  }
}

void shard::publish() {
  if (!log_.empty()) deliver(speaker_);
}

void shard::deliver(std::uint64_t except) {
  auto messages = log_.take();
  for (auto* each : members_) {
    if (each->id() != except) each->offer(messages);
  }
  log_.recycle(std::move(messages));
}

void shard::count_out(std::uint64_t messages, std::uint64_t bytes) {
  counters_.messages_out.add(messages);
  counters_.bytes_out.add(bytes);
  counters_.rate_out.add(second_of(loop_.now()), messages);
}

void shard::on_turn_end() {
  if (far_.sizes.empty()) return;
  const auto sent = std::make_shared<const far_batch>(std::exchange(far_, {}));
  for (const auto& other : state_.shards) {
    if (other.who == this) continue;
    other.where->post([who = other.who, sent] { who->take_far(*sent); });
  }
}

void shard::take_far(const far_batch& from) {
  auto bytes = as_bytes(from.bytes);
  for (const auto size : from.sizes) {
    const auto message = bytes.first(size);
    if (log_.must_take_before(message)) deliver(0);
    log_.append(message);
    bytes = bytes.subspan(size);
  }
  if (!log_.empty()) deliver(0);
}

std::uint64_t shard::broadcast(byte_span message) {
  log_.append(message);
  deliver(0);
  return members_.size();
}

}  // namespace strata::runtime
