// Messages that come one by one from many senders, without a connection: await the next, send to
// whom. UDP and raw Ethernet are such.
//
// Sending never waits: what there is no room for is refused, and counted by the caller.
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "loop/datagram_buffers.hpp"
#include "loop/loop.hpp"
#include "loop/source_awaiter.hpp"

namespace strata::net {

class datagram {
 public:
  struct arrival {
    int result = 0;  ///< bytes, or a negative errno: -EMSGSIZE is one lost datagram
    loop::buffer data;
    loop::socket_address from;
    bool is_lent = true;  ///< in memory of the loop's; see `own_arrived`
  };

  datagram() = default;
  datagram(const datagram&) = delete;
  datagram& operator=(const datagram&) = delete;
  virtual ~datagram() = default;

  /// Awaits the next datagram. -ENODEV is the last one.
  auto receive() { return loop::source_awaiter(*this); }

  /// What was sent before does not get away: the kernel's room is full. Messages to addresses
  /// where nobody is can fill it for seconds.
  [[nodiscard]] virtual bool is_stuck() const { return false; }
  /// Starts to send. False when there is no room. An empty address: to the connected peer.
  virtual bool send(const loop::socket_address& address, loop::slice bytes) = 0;

  /// Messages can get away: an interface that has no carrier, or is down, sends none, and takes
  /// none.
  [[nodiscard]] virtual bool is_up() const { return true; }
  /// Hands what was sent to the kernel now, where that would wait for the turn's end, so that
  /// `take_send_errors` tells what it has refused.
  virtual void flush() {}

  /// The largest message that can be sent, in bytes.
  [[nodiscard]] virtual std::size_t max_size() const = 0;

  /// Asks the kernel for buffers of these sizes, in bytes; 0 is what is usual. A notice tells when
  /// there is less.
  virtual void set_buffers(const loop::datagram_buffers& /*wanted*/) {}

  /// Receives datagrams of any size from now on, for a little more of the processor, where a large
  /// one is lost else. To be called before the first is awaited.
  virtual void take_large() {}

  /// What happens to the interface below, in a sentence; `is_trouble` when it is that messages are
  /// lost until it is over.
  using notice = std::function<void(bool is_trouble, const std::string& text)>;
  /// Also of what was before.
  void on_notice(notice hears) {
    notice_ = std::move(hears);
    for (const auto& [is_trouble, what] : std::exchange(untold_, {})) notice_(is_trouble, what);
  }

  /// Datagrams that the kernel refused to send since the last call.
  [[nodiscard]] std::uint64_t take_send_errors() { return std::exchange(send_errors_, 0); }
  /// Datagrams that came, and that the kernel had no room for, since the last call.
  [[nodiscard]] virtual std::uint64_t take_kernel_drops() { return 0; }

 protected:
  /// Sees to it that `arrive` will be called; called again and again while nothing has come.
  virtual void want() = 0;
  void arrive(arrival one) {
    arrived_.push_back(std::move(one));
    if (waiter_) std::exchange(waiter_, {}).resume();
  }
  void arrive_all(std::vector<arrival> some) {
    for (auto& each : some) arrived_.push_back(std::move(each));
    if (waiter_ && !arrived_.empty()) std::exchange(waiter_, {}).resume();
  }
  /// Something has come that nobody awaits.
  [[nodiscard]] bool is_behind() const { return !arrived_.empty(); }
  /// Moves what has come out of the memory that the loop has lent.
  void own_arrived() {
    for (auto& each : arrived_) {
      if (std::exchange(each.is_lent, false)) each.data = std::move(each.data).owned();
    }
  }
  /// For destructors of those whose buffers these are: drops what came and nobody took.
  void forget_arrived() { arrived_.clear(); }
  [[nodiscard]] bool is_wanted() const { return static_cast<bool>(waiter_); }
  void count_send_error() { ++send_errors_; }
  void tell(bool is_trouble, std::string text) {
    if (notice_) {
      notice_(is_trouble, text);
    } else {
      untold_.emplace_back(is_trouble, std::move(text));
    }
  }

 private:
  friend class loop::source_awaiter<datagram>;
  bool prepare() {
    if (arrived_.empty()) want();
    return !arrived_.empty();
  }
  arrival take() {
    auto first = std::move(arrived_.front());
    arrived_.pop_front();
    return first;
  }

  std::coroutine_handle<> waiter_;
  std::deque<arrival> arrived_;
  notice notice_;
  std::vector<std::pair<bool, std::string>> untold_;
  std::uint64_t send_errors_ = 0;
};

}  // namespace strata::net
