// Messages that arrive one by one from many senders, without a connection: wait for the next, send
// to an address. UDP and raw Ethernet are of this kind.
//
// Sending never waits: a message without room is refused, and the caller counts it.
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
    bool is_lent = true;  ///< in the loop's memory; see `own_arrived`
  };

  datagram() = default;
  datagram(const datagram&) = delete;
  datagram& operator=(const datagram&) = delete;
  virtual ~datagram() = default;

  /// Waits for the next datagram. -ENODEV is the last one.
  auto receive() { return loop::source_awaiter(*this); }

  /// Takes no more datagrams from the kernel: `receive` returns those that it has given already,
  /// and then waits. Sending continues.
  virtual void finish() {}

  /// Whether earlier messages do not leave because the kernel's buffer is full. Messages to
  /// addresses where nothing answers can fill it for seconds.
  [[nodiscard]] virtual bool is_stuck() const { return false; }
  /// Starts to send; false if there is no room. An empty address means the connected peer.
  virtual bool send(const loop::socket_address& address, loop::slice bytes) = 0;

  /// Whether messages can leave: an interface that is down or has no carrier sends none and
  /// receives none.
  [[nodiscard]] virtual bool is_up() const { return true; }
  /// Hands sent messages to the kernel now if they would wait for the turn's end, so that
  /// `take_send_errors` includes those that it refuses.
  virtual void flush() {}

  /// The largest message that can be sent, in bytes.
  [[nodiscard]] virtual std::size_t max_size() const = 0;

  /// Asks the kernel for buffers of these sizes, in bytes; 0 means the default. A notice reports a
  /// smaller grant.
  virtual void set_buffers(const loop::datagram_buffers& /*wanted*/) {}

  /// Receives datagrams of any size from now on, at slightly more CPU cost; otherwise a large one
  /// is lost. Call it before waiting for the first datagram.
  virtual void take_large() {}

  /// Describes in a sentence what happens to the interface below; `is_trouble` if messages are lost
  /// until it is over.
  using notice = std::function<void(bool is_trouble, const std::string& text)>;
  /// Sets the listener, and passes it the notices from before too.
  void on_notice(notice callback) {
    notice_ = std::move(callback);
    for (const auto& [is_trouble, what] : std::exchange(unreported_, {})) notice_(is_trouble, what);
  }

  /// The number of datagrams that the kernel refused to send since the last call.
  [[nodiscard]] std::uint64_t take_send_errors() { return std::exchange(send_errors_, 0); }
  /// The number of received datagrams that the kernel dropped for want of room since the last call.
  [[nodiscard]] virtual std::uint64_t take_kernel_drops() { return 0; }

 protected:
  /// Ensures that `arrive` will be called; called repeatedly while nothing has arrived.
  virtual void want() = 0;
  void arrive(arrival one) {
    arrived_.push_back(std::move(one));
    if (waiter_) std::exchange(waiter_, {}).resume();
  }
  void arrive_all(std::vector<arrival> some) {
    for (auto& each : some) arrived_.push_back(std::move(each));
    if (waiter_ && !arrived_.empty()) std::exchange(waiter_, {}).resume();
  }
  /// Whether datagrams have arrived that no coroutine waits for.
  [[nodiscard]] bool is_behind() const { return !arrived_.empty(); }
  /// Copies what has arrived out of the loop's lent memory.
  void own_arrived() {
    for (auto& each : arrived_) {
      if (std::exchange(each.is_lent, false)) each.data = std::move(each.data).owned();
    }
  }
  /// Drops what has arrived and was not taken: for destructors of classes that own these buffers.
  void forget_arrived() { arrived_.clear(); }
  [[nodiscard]] bool is_wanted() const { return static_cast<bool>(waiter_); }
  void count_send_error() { ++send_errors_; }
  void report(bool is_trouble, std::string text) {
    if (notice_) {
      notice_(is_trouble, text);
    } else {
      unreported_.emplace_back(is_trouble, std::move(text));
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
  std::vector<std::pair<bool, std::string>> unreported_;
  std::uint64_t send_errors_ = 0;
};

}  // namespace strata::net
