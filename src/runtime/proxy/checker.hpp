// Asks backends now and then whether they can serve, so that no client finds out first that one
// cannot.
//
// For one loop's thread: one of a proxy's loops asks, for all of them.
#pragma once

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

/// What a gate lets its checker use. All of it outlives that.
struct checking {
  const proxy_options& options;
  std::function<std::vector<backend_ref>()> all;
  std::function<loop::task<result<std::unique_ptr<net::stream>>>(backend_ref)> connect;
  /// Tells people of a change of a backend.
  std::function<void(level, std::string_view event, const std::string& text)> tell;
};

class checker final : private loop::timer {
 public:
  checker(loop::loop& loop, checking checking) : loop_(loop), how_(std::move(checking)) {}

  /// Begins, or goes on as the options are now. Backends that are not checked any more are up.
  void apply();

 private:
  void on_timer() override;
  loop::task<> check(backend_ref backend);
  loop::task<result<void>> ask(backend_ref backend);
  loop::task<result<void>> agree_on_tls(backend_ref backend, std::unique_ptr<net::stream> stream);
  void note(backend& backend, const result<void>& outcome);

  loop::loop& loop_;
  checking how_;
  std::shared_ptr<const net::tls_context> any_;  // takes whatever certificate
  loop::task_group asking_;
};

}  // namespace strata::runtime::proxy
