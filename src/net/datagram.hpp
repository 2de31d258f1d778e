// A UDP socket on a loop: await what comes from whom, send to whom.
//
// Sending never waits: datagrams beyond a stated number under way are refused, and counted by the
// caller.
#pragma once

#include <coroutine>
#include <cstddef>
#include <deque>
#include <memory>
#include <vector>

#include "loop/loop.hpp"
#include "loop/source_awaiter.hpp"

namespace strata::net {

class datagram final : private loop::request {
 public:
  /// A datagram larger than this is cut by the loop's buffers, and refused here.
  static constexpr std::size_t max_size = 16000;
  static constexpr std::size_t most_under_way = 4096;

  struct arrival {
    int result = 0;  ///< bytes, or a negative errno: -EMSGSIZE is one lost datagram
    loop::buffer data;
    loop::socket_address from;
  };

  datagram(loop::loop& owner, loop::socket bound);
  ~datagram() override;
  datagram(const datagram&) = delete;
  datagram& operator=(const datagram&) = delete;

  /// Awaits the next datagram.
  auto receive() { return loop::source_awaiter(*this); }

  /// Starts to send. False when too many are under way. An empty address: to the connected peer.
  bool send(const loop::socket_address& to, loop::slice bytes);

  /// Datagrams that the kernel refused to send since the last call.
  [[nodiscard]] std::uint64_t take_send_errors() { return std::exchange(send_errors_, 0); }
  [[nodiscard]] const loop::socket& handle() const { return socket_; }

 private:
  friend class loop::source_awaiter<datagram>;
  class sending;
  void on_completion(loop::completion done) override;
  bool prepare();
  arrival take();

  loop::loop& loop_;
  loop::socket socket_;
  std::coroutine_handle<> waiter_;
  std::deque<arrival> arrived_;
  std::vector<std::unique_ptr<sending>> all_;
  std::vector<sending*> idle_;
  std::uint64_t send_errors_ = 0;
};

}  // namespace strata::net
