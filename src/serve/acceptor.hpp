// The listening side: accepts connections within a limit, sends the reason to those above it, waits
// when the system has no more descriptors, and owns the connections until they end.
//
// For one loop's thread. Several acceptors, one per loop, may share a gauge.
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

/// The decisions and callbacks of an acceptor's owner.
struct acceptor_settings {
  connection_gauge& connections;
  /// Whether a connection may be served at all; others are closed without a word. Null: all may.
  std::function<bool(const loop::descriptor& arrived, unsigned tag)> admits = nullptr;
  /// It may use the descriptors that are reserved for the operator, who can then act whatever
  /// clients have taken.
  bool is_for_operator = false;
  /// Maximum number of connections; 0: no limit. Called for each connection.
  std::function<std::uint64_t()> most;
  /// Serves a connection, until the task ends or the acceptor is destroyed. The task holds its
  /// place meanwhile. `tag`: the value that its listener was added with.
  std::function<loop::task<>(std::unique_ptr<net::stream>, connection_gauge::place, unsigned tag)>
      serve;
  /// Why a connection is turned away, in the protocol's words; empty: it is served. Null: all are.
  std::function<std::string(const net::stream& arrived)> objection = nullptr;
  /// Whether a connection starts with a PROXY header that names the client it speaks for. Null:
  /// none does.
  std::function<bool(const net::stream& arrived)> introduces = nullptr;
  /// Sent to a client above the limit; empty: nothing is sent.
  std::string refusal;
  /// Called when a client was not served. `words`: the objection; empty: above the limit.
  std::function<void(const loop::socket_address& client, std::string_view words)> on_refused;
  /// How long a client may take for the TLS handshake, and for a PROXY header. Null: ten seconds.
  std::function<loop::duration()> handshake_limit = nullptr;
  /// Called when a client has completed the TLS handshake; may be null.
  std::function<void(const net::stream& stream)> on_secured = nullptr;
  /// Called when a TLS handshake failed or a PROXY header was invalid, and the client is gone.
  /// `is_logged`: to be logged; of many in a short time, few are.
  std::function<void(const error& why, bool is_logged)> on_handshake_failed = nullptr;
  /// Called when accepting fails; it is retried. `is_new`: it worked before.
  std::function<void(const error& why, bool is_new)> on_trouble;
};

class acceptor {
 public:
  acceptor(loop::loop& loop, acceptor_settings settings)
      : loop_(loop), settings_(std::move(settings)) {}
  ~acceptor();
  acceptor(const acceptor&) = delete;
  acceptor& operator=(const acceptor&) = delete;

  /// Adds a listener. `tag` is passed to `serve`. With `secure`, clients are served after a TLS
  /// handshake with the context that the slot has then; they hold their place meanwhile.
  void add(std::unique_ptr<net::listener> listening, unsigned tag = 0,
           std::shared_ptr<const net::tls_slot> secure = nullptr) {
    listeners_.push_back({std::move(listening), tag, std::move(secure)});
  }
  /// Starts to accept on all listeners; until then clients wait in the kernel.
  void begin();
  /// Stops listening. Connections continue; those that are not served yet are lost.
  void stop_listening();
  /// Stops listening, once all connections that the kernel has handed over are served. Those that
  /// it has not are left for whoever has a copy of the socket.
  [[nodiscard]] loop::task<> finish_listening();
  /// Ends all connections; do not call it from one of them.
  void end_connections() { serving_.cancel(); }
  /// Runs a task that continues to serve a connection after `serve` has ended.
  void adopt(loop::task<> serving) { serving_.spawn(std::move(serving)); }
  /// Performs the TLS handshake with a client that turns out to want TLS. Returns false if it
  /// fails; the owner has been notified then.
  [[nodiscard]] loop::task<bool> start_tls(net::stream& stream,
                                           std::shared_ptr<const net::tls_context> context);

 private:
  struct guarded_listener {
    std::unique_ptr<net::listener> listener;
    unsigned tag;
    std::shared_ptr<const net::tls_slot> secure;
  };
  loop::task<> accept_all(const guarded_listener& source);
  void receive(const guarded_listener& source, std::unique_ptr<net::stream> arrived);
  /// The steps before a connection is served.
  struct beginning {
    unsigned tag;
    bool is_introduced;
    std::shared_ptr<const net::tls_slot> secure;
  };
  loop::task<> begin_with(std::unique_ptr<net::stream> arrived, connection_gauge::place place,
                          beginning first);
  loop::task<bool> receive_introduction(net::stream& stream);
  [[nodiscard]] loop::time_point handshake_limit() const;
  void report_failed(const net::stream& stream, error why);
  void turn_away(std::unique_ptr<net::stream> arrived, std::string_view objection,
                 std::string words);
  loop::task<> refuse(std::unique_ptr<net::stream> arrived, std::string words);

  loop::loop& loop_;
  acceptor_settings settings_;
  std::deque<guarded_listener> listeners_;
  std::size_t refusing_ = 0;
  loop::time_point last_logged_;       // time of the last failed handshake that was logged
  std::uint64_t failed_unlogged_ = 0;  // failed handshakes since then
  loop::task_group listening_;
  loop::task_group serving_;
};

}  // namespace strata::serve
