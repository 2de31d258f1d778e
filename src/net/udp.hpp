// A UDP socket on a loop.
#pragma once

#include <boost/intrusive/list.hpp>
#include <deque>
#include <memory>
#include <string_view>
#include <vector>

#include "net/datagram.hpp"

namespace strata::net {

class udp final : public datagram, private loop::request, private loop::turn_end_hook {
 public:
  /// Sends that the kernel has at a time. Further ones are queued, within these limits.
  static constexpr std::size_t most_under_way = 4096;
  static constexpr std::size_t most_waiting = 65536;
  static constexpr std::size_t most_waiting_bytes = 16U << 20U;

  udp(loop::loop& owner, loop::descriptor bound);
  ~udp() override;

  void finish() override;
  bool send(const loop::socket_address& address, loop::slice bytes) override;
  [[nodiscard]] bool is_stuck() const override;
  [[nodiscard]] std::size_t max_size() const override { return 65507; }
  void take_large() override { is_large_ = loop::has_whole_datagrams(loop_); }
  void set_buffers(const loop::datagram_buffers& buffers) override;
  [[nodiscard]] std::uint64_t take_kernel_drops() override;

 private:
  class sending;
  using order_hook = boost::intrusive::list_base_hook<>;  // oldest first
  struct waiting {
    loop::socket_address to;
    loop::slice bytes;
    std::size_t held;  // bytes in memory for it and for those right behind it
  };
  void start(sending& free, const loop::socket_address& address, loop::slice bytes);
  bool queue(const loop::socket_address& address, loop::slice bytes);
  void send_next(sending& free);
  void want() override;
  void on_completion(loop::completion completion) override;
  void on_turn_end() override;
  void take_all();
  void report_smaller(std::string_view text, std::uint64_t expected, std::uint64_t granted);

  loop::loop& loop_;
  loop::descriptor socket_;
  std::vector<std::unique_ptr<sending>> all_;
  std::vector<sending*> idle_;
  boost::intrusive::list<sending, boost::intrusive::base_hook<order_hook>> under_way_;
  std::deque<waiting> waiting_;
  std::size_t waiting_bytes_ = 0;
  std::uint32_t drops_seen_ = 0;
  bool is_large_ = false;
  bool is_finished_ = false;
};

}  // namespace strata::net
