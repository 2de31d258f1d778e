#include "net/stream.hpp"

#include <cerrno>

#include "loop/reset.hpp"
#include "net/secured_stream.hpp"

namespace strata::net {

stream::stream(loop::loop& loop, loop::descriptor connected)
    : byte_channel(loop), out_(std::move(connected)) {}

stream::~stream() { abandon(); }

loop::task<bool> stream::room(std::size_t low, loop::time_point limit) {
  const bool has_room = co_await out_.room(low, limit);
  co_return has_room;
}

void stream::leave() {
  out_.send_end_at_once();
  abort();
}

// A TLS connection that ends without close_notify signals the break too.
void stream::break_off() {
  loop::reset_on_close(home_, out_.socket());
  if (secured_) abort();
}

loop::task<bool> stream::delivered(loop::time_point limit) {
  const bool is_delivered = co_await out_.acknowledged(limit);
  co_return is_delivered;
}

bool stream::has_something() {
  if (!secured_) return !arrived_.empty();
  open_arrived();
  return !secured_->plain.empty() || secured_->has_ended;
}

bool stream::prepare() {
  if (has_something()) return true;
  if (!ended_ && !under_way()) home_.receive(out_.socket(), *this);
  return ended_;
}

void stream::on_completion(loop::completion completion) {
  const bool paused = completion.result == -ECANCELED;
  if (completion.result > 0 || !(paused || completion.result == -ENOBUFS)) {
    ended_ = completion.result <= 0;
    arrived_.push_back({completion.result, std::move(completion.data), true});
  }
  if (!waiter_) {
    if (!arrived_.empty()) home_.at_turn_end(*this);
    return;
  }
  if (!has_something()) {
    // No buffer was free, receiving was paused and is resumed, or a record is incomplete.
    if (!under_way()) home_.receive(out_.socket(), *this);
    return;
  }
  std::exchange(waiter_, {}).resume();
}

// The reader is busy: nothing more is received until it asks again, and the loop gets its lent
// memory back. Data that the kernel handed over before the pause took effect still arrives.
void stream::on_turn_end() {
  if (arrived_.empty()) return;
  if (under_way()) cancel();
  for (auto& each : arrived_) {
    if (std::exchange(each.is_lent, false)) each.data = std::move(each.data).owned();
  }
}

result<loop::buffer> stream::take() { return secured_ ? take_plain() : take_first(arrived_); }

result<loop::buffer> stream::take_first(std::vector<arrival>& arrivals) {
  if (arrivals.empty()) return loop::buffer{};
  auto first = std::move(arrivals.front());
  arrivals.erase(arrivals.begin());
  if (first.result < 0) return system_failure(-first.result, "receive");
  return std::move(first.data);
}

void stream::unread(loop::buffer&& seen) {
  if (seen.empty()) return;
  const auto size = static_cast<int>(seen.bytes().size());
  auto& into = secured_ ? secured_->plain : arrived_;
  into.insert(into.begin(), {size, std::move(seen), true});
  home_.at_turn_end(*this);
}

const peer_info& stream::peer() const {
  if (!peer_) {
    peer_ = std::make_unique<peer_info>(
        peer_info{home_.remote_address(out_.socket()), home_.local_address(out_.socket()), {}});
  }
  return *peer_;
}

std::string_view stream::transport() const {
  if (tls() != nullptr) return "tls";
  return peer().local.family() == AF_UNIX ? "unix" : "tcp";
}

std::optional<peer_process> stream::process() const {
  ucred found{};
  socklen_t size = sizeof found;
  if (peer().local.family() != AF_UNIX ||
      ::getsockopt(out_.socket().fd(), SOL_SOCKET, SO_PEERCRED, &found, &size) != 0) {
    return std::nullopt;
  }
  return peer_process{.user = found.uid, .id = found.pid};
}

void stream::speak_for(const loop::socket_address& client, const loop::socket_address& local) {
  peer_ = std::make_unique<peer_info>(peer_info{client, local, {}});
}

}  // namespace strata::net
