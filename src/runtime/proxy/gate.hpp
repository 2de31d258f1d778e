// One loop's part of a proxy: takes clients in, finds a back for each, and joins the two.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "loop/timer.hpp"
#include "net/directory.hpp"
#include "net/tls/context.hpp"
#include "net/tls/slot.hpp"
#include "runtime/proxy/back.hpp"
#include "runtime/proxy/options.hpp"
#include "runtime/proxy/relay.hpp"
#include "runtime/sharded.hpp"
#include "serve/acceptor.hpp"

namespace strata::runtime::proxy {

/// What all gates of a proxy share.
struct gate_setting {
  const context& given;
  serve::connection_gauge& connections;
  std::shared_ptr<net::tls_slot> shown;             ///< to clients
  std::shared_ptr<const net::tls_context> trusted;  ///< of backs; null: the system's
  std::size_t count = 1;                            ///< of gates
};

class gate final : public part, private loop::timer {
 public:
  gate(loop::loop& on, std::size_t number, proxy_options options, gate_setting setting);
  ~gate() override;

  [[nodiscard]] loop::task<result<void>> open(std::vector<net::bind_target>& targets) override;
  void fall_silent() override;
  [[nodiscard]] loop::task<> close(loop::time_point limit) override;
  [[nodiscard]] const counters& counted() const override { return counters_; }
  void apply(const live_edit<proxy_options>& edit);

 private:
  void on_timer() override;
  void arm_sweep();
  [[nodiscard]] serve::reception reception();
  loop::task<> serve(std::unique_ptr<net::stream> client, serve::connection_gauge::place place);
  struct opened_back {
    back_use use;
    std::unique_ptr<net::stream> stream;
  };
  loop::task<result<opened_back>> open_back(loop::socket_address source);

  loop::loop& loop_;
  std::size_t number_;
  proxy_options options_;
  gate_setting setting_;
  backs backs_;
  counters counters_;
  relay::list relays_;
  serve::acceptor acceptor_;
};

}  // namespace strata::runtime::proxy
