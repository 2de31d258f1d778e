// What listens: accepts connections within a limit, tells those above it why they are closed,
// waits when the system has no more descriptors, and owns the connections until they end.
//
// For one loop's thread. Several acceptors, one a loop, may share a gauge.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "loop/loop.hpp"
#include "loop/task_group.hpp"
#include "net/listener.hpp"
#include "net/stream.hpp"
#include "net/tls/slot.hpp"
#include "serve/connection_gauge.hpp"

namespace strata::serve {

/// What an acceptor's owner decides, and is told.
struct reception {
  connection_gauge& connections;
  /// Whether a connection may be served at all; the others are closed without a word. Null: all.
  std::function<bool(const loop::descriptor& arrived, unsigned door)> admits = nullptr;
  /// It may use the descriptors that are kept back for the operator, so that whatever clients have
  /// taken, somebody can still do something about it.
  bool is_for_operator = false;
  /// Connections at a time; 0: no limit. Asked for each.
  std::function<std::uint64_t()> most;
  /// Serves one, until the task ends or the acceptor goes. The task keeps the place meanwhile.
  /// `door`: what its listener was added with.
  std::function<loop::task<>(std::unique_ptr<net::stream>, connection_gauge::place, unsigned door)>
      serve;
  /// Why one is turned away, in the protocol's words; empty: it is served. Null: all are.
  std::function<std::string(const net::stream& arrived)> objection = nullptr;
  /// Whether what has connected says by the PROXY protocol which client it speaks for, before all
  /// else. Null: nothing does.
  std::function<bool(const net::stream& arrived)> introduces = nullptr;
  /// What a client above the limit is told; empty: nothing.
  std::string refusal;
  /// One was not served. `words`: the objection; empty: above the limit.
  std::function<void(const loop::socket_address& client, std::string_view words)> on_refused;
  /// How long a client may take for the handshake of TLS, and for a PROXY header. Null: ten
  /// seconds.
  std::function<loop::duration()> handshake_limit = nullptr;
  /// A client has agreed on TLS. Null: nobody wants to know.
  std::function<void(const net::stream& stream)> on_secured = nullptr;
  /// A client has failed to agree on TLS, or a PROXY header was none, and it is gone. `is_told`: it
  /// is to be logged; of many in a short time, few are.
  std::function<void(const error& why, bool is_told)> on_handshake_failed = nullptr;
  /// Accepting fails; it goes on by itself. `is_new`: it worked before.
  std::function<void(const error& why, bool is_new)> on_trouble;
};

class acceptor {
 public:
  acceptor(loop::loop& loop, reception reception) : loop_(loop), how_(std::move(reception)) {}
  ~acceptor();
  acceptor(const acceptor&) = delete;
  acceptor& operator=(const acceptor&) = delete;

  /// `door` is for `serve`. With `secure`, clients are served once they have agreed on TLS by the
  /// context that is then in it; their place is taken meanwhile.
  void add(std::unique_ptr<net::listener> listening, unsigned door = 0,
           std::shared_ptr<const net::tls_slot> secure = nullptr) {
    listeners_.push_back({std::move(listening), door, std::move(secure)});
  }
  /// Starts to accept on all that were added; until then clients wait in the kernel.
  void begin();
  /// Stops listening. Connections go on.
  void stop_listening();
  /// Ends all connections; not to be called from one of them.
  void end_connections() { serving_.cancel(); }
  /// Runs what goes on serving a connection, for a `serve` that has ended.
  void adopt(loop::task<> serving) { serving_.spawn(std::move(serving)); }
  /// Agrees on TLS with a client that turns out to want it. False when that fails, of which the
  /// owner has been told.
  [[nodiscard]] loop::task<bool> start_tls(net::stream& stream,
                                           std::shared_ptr<const net::tls_context> context);

 private:
  struct entrance {
    std::unique_ptr<net::listener> from;
    unsigned door;
    std::shared_ptr<const net::tls_slot> secure;
  };
  loop::task<> accept_all(const entrance& entrance);
  void receive(const entrance& entrance, std::unique_ptr<net::stream> arrived);
  /// What comes before a connection is served.
  struct beginning {
    unsigned door;
    bool is_introduced;
    std::shared_ptr<const net::tls_slot> secure;
  };
  loop::task<> begin_with(std::unique_ptr<net::stream> arrived, connection_gauge::place place,
                          beginning first);
  loop::task<bool> hear_introduction(net::stream& stream);
  [[nodiscard]] loop::time_point handshake_limit() const;
  void tell_failed(const net::stream& stream, error why);
  void turn_away(std::unique_ptr<net::stream> arrived, std::string_view objection,
                 std::string words);
  loop::task<> refuse(std::unique_ptr<net::stream> arrived, std::string words);

  loop::loop& loop_;
  reception how_;
  std::deque<entrance> listeners_;
  std::size_t refusing_ = 0;
  loop::time_point last_told_;       // when a failed handshake was
  std::uint64_t failed_untold_ = 0;  // handshakes since
  loop::task_group listening_;
  loop::task_group serving_;
};

}  // namespace strata::serve
