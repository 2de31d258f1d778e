// Checks periodically whether backends can serve, so that no client is the first to find out that
// one cannot.
//
// For one loop's thread: one of a proxy's loops checks for all of them.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "loop/task_group.hpp"
#include "loop/timer.hpp"
#include "net/stream.hpp"
#include "net/tls/context.hpp"
#include "runtime/journal.hpp"
#include "runtime/proxy/choice/choosing.hpp"
#include "runtime/proxy/options.hpp"

namespace strata::runtime::proxy {

/// What a gate provides to its checker. All of it outlives the checker.
struct checking {
  const proxy_options& options;
  std::function<std::vector<backend_ref>()> all;
  std::function<loop::task<result<std::unique_ptr<net::stream>>>(backend_ref)> connect;
  /// Reports a change of a backend to the log and as an event.
  std::function<void(level, std::string_view event, const std::string& text)> report;
};

class checker final : private loop::timer {
 public:
  checker(loop::loop& loop, checking checking) : loop_(loop), how_(std::move(checking)) {}

  /// Starts, or adapts to the present options: if these ask for another answer, all backends are
  /// checked again. Backends that are no longer checked count as up.
  void apply();

 private:
  void on_timer() override;
  loop::task<> check(backend_ref backend);
  loop::task<result<void>> ask(backend_ref backend);
  loop::task<result<void>> agree_on_tls(backend_ref backend, std::unique_ptr<net::stream> stream);
  void note(backend& backend, const result<void>& outcome);

  loop::loop& loop_;
  checking how_;
  std::shared_ptr<const net::tls_context> any_;  // accepts any certificate
  std::array<std::string, 3> request_{"off"};    // the options by which it checks
  loop::task_group asking_;
};

}  // namespace strata::runtime::proxy
