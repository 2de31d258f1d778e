#include "net/udp.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <cerrno>

namespace strata::net {

namespace {

// A send that takes longer has found the kernel's buffer full.
constexpr std::chrono::milliseconds usual_wait{20};

}  // namespace

class udp::sending final : public loop::request, public order_hook {
 public:
  explicit sending(udp& owner) : owner_(owner) {}

  loop::time_point began;

 private:
  void on_completion(loop::completion completion) override {
    if (completion.result < 0) owner_.count_send_error();
    owner_.under_way_.erase(owner_.under_way_.iterator_to(*this));
    owner_.send_next(*this);
  }

  udp& owner_;
};

udp::udp(loop::loop& owner, loop::descriptor bound) : loop_(owner), socket_(std::move(bound)) {}

udp::~udp() {
  abandon();
  under_way_.clear();
}

bool udp::is_stuck() const {
  return !under_way_.empty() && loop_.now() - under_way_.front().began > usual_wait;
}

void udp::start(sending& free, const loop::socket_address& address, loop::slice bytes) {
  free.began = loop_.now();
  under_way_.push_back(free);
  loop_.send_to(socket_, address, std::move(bytes), free);
}

bool udp::send(const loop::socket_address& address, loop::slice bytes) {
  if (idle_.empty()) {
    if (all_.size() >= most_under_way) return queue(address, std::move(bytes));
    all_.push_back(std::make_unique<sending>(*this));
    idle_.push_back(all_.back().get());
  }
  auto& free = *idle_.back();
  idle_.pop_back();
  start(free, address, std::move(bytes));
  return true;
}

// A message to many peers is one piece of memory, counted once.
bool udp::queue(const loop::socket_address& address, loop::slice bytes) {
  const auto* const memory = bytes.bytes().data();
  const bool is_new = waiting_.empty() || waiting_.back().bytes.bytes().data() != memory;
  const auto held = is_new ? bytes.bytes().size() : 0;
  if (waiting_.size() >= most_waiting || waiting_bytes_ + held > most_waiting_bytes) return false;
  waiting_bytes_ += held;
  waiting_.push_back({address, std::move(bytes), held});
  return true;
}

void udp::send_next(sending& free) {
  if (waiting_.empty()) {
    idle_.push_back(&free);
    return;
  }
  auto next = std::move(waiting_.front());
  waiting_.pop_front();
  waiting_bytes_ -= next.held;
  start(free, next.to, std::move(next.bytes));
}

void udp::set_buffers(const loop::datagram_buffers& buffers) {
  loop::set_buffers(loop_, socket_, buffers);
  const auto granted = loop::buffers_of(loop_, socket_);
  report_smaller("receive", buffers.receive, granted.receive);
  report_smaller("send", buffers.send, granted.send);
}

void udp::report_smaller(std::string_view text, std::uint64_t expected, std::uint64_t granted) {
  if (granted >= expected) return;
  report(false, fmt::format("the kernel gives {} of the {} bytes of --{}-buffer: raise "
                            "net.core.{}mem_max or grant CAP_NET_ADMIN",
                            granted, expected, text, text.front() == 'r' ? 'r' : 'w'));
}

std::uint64_t udp::take_kernel_drops() {
  const auto all = loop::kernel_drops(loop_, socket_);
  return all - std::exchange(drops_seen_, all);
}

void udp::finish() {
  is_finished_ = true;
  if (under_way()) cancel();
}

void udp::want() {
  if (under_way() || is_finished_) return;
  if (is_large_) {
    loop_.poll(socket_, POLLIN, *this);
  } else {
    loop_.receive_from(socket_, *this);
  }
}

// Later datagrams stay in the kernel until all of these have been taken.
void udp::take_all() {
  constexpr std::size_t most_at_once = 16;
  std::vector<arrival> all;
  while (all.size() < most_at_once) {
    auto next = loop::take_datagram(socket_);
    if (!next) break;
    all.push_back({.result = next->result,
                   .data = std::move(next->data),
                   .from = next->from,
                   .is_lent = false});
  }
  if (all.empty()) {
    if (is_wanted()) want();
  } else {
    arrive_all(std::move(all));
  }
}

void udp::on_completion(loop::completion completion) {
  if (completion.result == -ENOBUFS || completion.result == -ECANCELED) {
    if (is_wanted()) want();
    return;
  }
  if (is_large_) return take_all();
  arrive({completion.result, std::move(completion.data),
          completion.from != nullptr ? *completion.from : loop::socket_address{}});
  if (is_behind()) loop_.at_turn_end(*this);
}

// The reader is busy: datagrams that arrive from now on stay in the kernel, up to its limit.
void udp::on_turn_end() {
  if (!is_behind()) return;
  if (under_way()) cancel();
  own_arrived();
}

}  // namespace strata::net
