// What listens: accepts connections within a limit, tells those above it why they are closed,
// waits when the system has no more descriptors, and owns the connections until they end.
//
// For one loop's thread. Several acceptors, one a loop, may share a gauge.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "loop/loop.hpp"
#include "loop/task_group.hpp"
#include "net/listener.hpp"
#include "net/stream.hpp"
#include "serve/connection_gauge.hpp"

namespace strata::serve {

/// What an acceptor's owner decides, and is told.
struct reception {
  connection_gauge& connections;
  /// Whether a connection may be served at all; the others are closed without a word. Null: all.
  std::function<bool(const loop::descriptor& arrived)> admits = nullptr;
  /// Connections at a time; 0: no limit. Asked for each.
  std::function<std::uint64_t()> most;
  /// Serves one, until the task ends or the acceptor goes. The task keeps the place meanwhile.
  /// `door`: what its listener was added with.
  std::function<loop::task<>(std::unique_ptr<net::stream>, connection_gauge::place, unsigned door)>
      serve;
  /// What a client above the limit is told; empty: nothing.
  std::string refusal;
  std::function<void()> on_refused;
  /// Accepting fails; it goes on by itself. `is_new`: it worked before.
  std::function<void(const error& why, bool is_new)> on_trouble;
};

class acceptor {
 public:
  acceptor(loop::loop& on, reception how) : loop_(on), how_(std::move(how)) {}
  ~acceptor();
  acceptor(const acceptor&) = delete;
  acceptor& operator=(const acceptor&) = delete;

  void add(std::unique_ptr<net::listener> listening, unsigned door = 0) {
    listeners_.push_back({std::move(listening), door});
  }
  /// Starts to accept on all that were added; until then clients wait in the kernel.
  void begin();
  /// Stops listening. Connections go on.
  void stop_listening();
  /// Ends all connections; not to be called from one of them.
  void end_connections() { serving_.cancel(); }
  /// Runs what goes on serving a connection, for a `serve` that has ended.
  void adopt(loop::task<> serving) { serving_.spawn(std::move(serving)); }

 private:
  struct entrance {
    std::unique_ptr<net::listener> listening;
    unsigned door;
  };

  loop::task<> accept_all(const entrance& from);
  void receive(std::unique_ptr<net::stream> arrived, unsigned door);
  loop::task<> refuse(std::unique_ptr<net::stream> arrived);

  loop::loop& loop_;
  reception how_;
  std::deque<entrance> listeners_;
  std::size_t refusing_ = 0;
  loop::task_group listening_;
  loop::task_group serving_;
};

}  // namespace strata::serve
