#include "net/datagram.hpp"

#include <cerrno>

namespace strata::net {

class datagram::sending final : public loop::request {
 public:
  explicit sending(datagram& owner) : owner_(owner) {}

 private:
  void on_completion(loop::completion done) override {
    if (done.result < 0) ++owner_.send_errors_;
    owner_.idle_.push_back(this);
  }

  datagram& owner_;
};

datagram::datagram(loop::loop& owner, loop::socket bound)
    : loop_(owner), socket_(std::move(bound)) {}

datagram::~datagram() { abandon(); }

bool datagram::send(const loop::socket_address& to, loop::slice bytes) {
  if (idle_.empty()) {
    if (all_.size() >= most_under_way) return false;
    all_.push_back(std::make_unique<sending>(*this));
    idle_.push_back(all_.back().get());
  }
  auto& free = *idle_.back();
  idle_.pop_back();
  loop_.send_to(socket_, to, std::move(bytes), free);
  return true;
}

bool datagram::prepare() {
  if (!arrived_.empty()) return true;
  if (!under_way()) loop_.receive_from(socket_, *this);
  return false;
}

void datagram::on_completion(loop::completion done) {
  if (done.result == -ENOBUFS) {
    if (waiter_ && !under_way()) loop_.receive_from(socket_, *this);
    return;
  }
  arrived_.push_back({done.result, std::move(done.data),
                      done.from != nullptr ? *done.from : loop::socket_address{}});
  if (waiter_) std::exchange(waiter_, {}).resume();
}

datagram::arrival datagram::take() {
  auto first = std::move(arrived_.front());
  arrived_.pop_front();
  return first;
}

}  // namespace strata::net
