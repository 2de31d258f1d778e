#include "net/stream.hpp"

#include <cerrno>

namespace strata::net {

namespace {

constexpr std::size_t most_waiting = 8;  // buffers

}  // namespace

bool stream::prepare() {
  if (!arrived_.empty()) return true;
  if (!ended_ && !under_way()) loop_.receive(socket_, *this);
  return ended_;
}

void stream::on_completion(loop::completion done) {
  const bool paused = done.result == -ECANCELED;
  if (done.result > 0 || !(paused || done.result == -ENOBUFS)) {
    ended_ = done.result <= 0;
    arrived_.push_back({done.result, std::move(done.data)});
  }
  if (arrived_.size() >= most_waiting && under_way()) cancel();
  if (!waiter_) return;
  if (arrived_.empty()) {
    // No buffer was free, or receiving was paused and is wanted again.
    if (!under_way()) loop_.receive(socket_, *this);
    return;
  }
  std::exchange(waiter_, {}).resume();
}

result<loop::buffer> stream::take() {
  if (arrived_.empty()) return loop::buffer{};
  auto first = std::move(arrived_.front());
  arrived_.erase(arrived_.begin());
  if (first.result < 0) return system_failure(-first.result, "receive");
  return std::move(first.data);
}

}  // namespace strata::net
