// A UDP socket on a loop.
#pragma once

#include <memory>
#include <vector>

#include "net/datagram.hpp"

namespace strata::net {

class udp final : public datagram, private loop::request, private loop::turn_end_hook {
 public:
  static constexpr std::size_t most_under_way = 4096;

  udp(loop::loop& owner, loop::descriptor bound);
  ~udp() override;

  bool send(const loop::socket_address& to, loop::slice bytes) override;
  [[nodiscard]] std::size_t max_size() const override { return 65507; }

 private:
  class sending;
  void want() override;
  void on_completion(loop::completion done) override;
  void on_turn_end() override;

  loop::loop& loop_;
  loop::descriptor socket_;
  std::vector<std::unique_ptr<sending>> all_;
  std::vector<sending*> idle_;
};

}  // namespace strata::net
