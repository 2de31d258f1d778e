// The clients of a proxy whose ends carry messages: datagrams, frames, WebSockets, and streams with
// a framing. Each has a backend of its own; each of the two receives what the other sends.
//
// A sender of datagrams or frames has no connection. It has a session from its first message on,
// until both sides have been silent for a while.
//
// For one loop's thread.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "loop/task_group.hpp"
#include "net/message_port.hpp"
#include "net/stream.hpp"
#include "proto/http/http1.hpp"
#include "runtime/counters.hpp"
#include "runtime/journal.hpp"
#include "runtime/proxy/choice/backends.hpp"
#include "runtime/proxy/heads/tracing.hpp"
#include "runtime/proxy/streams/bond.hpp"
#include "serve/connection_gauge.hpp"

namespace strata::runtime::proxy {

/// A connection to a backend, or a socket for that backend alone.
struct opened_backend {
  std::shared_ptr<const backends> of = {};  ///< kept alive, in case an edit removes them
  backend_use use;
  net::connection over;
};

/// What a gate provides. All of it outlives the message gate.
struct message_means {
  const proxy_options& options;
  /// Errors: those of the backend that was tried last; canceled if `client_left` came first.
  std::function<loop::task<result<opened_backend>>(const net::peer_info& client,
                                                   std::function<loop::task<>()> client_left)>
      open_backend;
  /// Whether that sender may have a session.
  std::function<bool(const loop::socket_address& sender)> admits;
  /// Called for a new bond, which is in no list yet.
  std::function<void(bond&)> on_begun;
  const bond_means& bonds;
  serve::connection_gauge& connections;
  journal& log;
};

class message_gate {
 public:
  message_gate(loop::loop& loop, message_means means) : loop_(loop), means_(std::move(means)) {}
  ~message_gate() { end(); }
  message_gate(const message_gate&) = delete;
  message_gate& operator=(const message_gate&) = delete;

  /// Receives from its senders from now on.
  void add(std::unique_ptr<net::datagram> datagram);
  /// Serves the client of a stream, which opens a WebSocket first if `is_websocket`.
  [[nodiscard]] loop::task<> serve(std::unique_ptr<net::stream> client, bool is_websocket);
  /// Takes no more datagrams from the kernel.
  void finish() {
    for (auto& each : fronts_) each.over->finish();
  }
  /// Accepts no new senders. Sessions still receive.
  void stop_receiving() { is_silent_ = true; }
  /// Ends all sessions; do not call it from one of them.
  void end();

 private:
  class session;
  struct front {
    std::unique_ptr<net::datagram> over;
    std::unordered_map<loop::socket_address, session*, loop::address_hash> sessions;
  };
  struct opened_port {
    backend_use use;
    std::unique_ptr<net::message_port> port;
  };
  /// The request parameters for opening a backend's WebSocket.
  struct opening {
    proto::http_fields fields;
    std::vector<std::string> protocols;
  };

  loop::task<> receive(front& front);
  void take(front& front, const net::datagram::arrival& arrival);
  loop::task<> serve_sender(front& front, loop::socket_address client,
                            serve::connection_gauge::place place);
  /// Opens the client's WebSocket once there is a port to a backend. Null: there is none, or the
  /// client has left before; the reason is logged.
  loop::task<std::unique_ptr<net::message_port>> welcome(
      std::unique_ptr<net::stream> client, std::optional<result<opened_port>>& stream);
  /// Finds a backend, opens `port` to it, and returns the subprotocol that the port has negotiated.
  loop::task<result<std::string>> find_for(const proto::http_request& request,
                                           net::peer_info client, bool is_secure,
                                           std::optional<result<opened_port>>& port);
  /// The opening for a client's request, or a default one, after the rules for fields.
  [[nodiscard]] opening opening_for(const proto::http_request& request,
                                    const net::peer_info& client, bool is_secure);
  [[nodiscard]] opening opening_of(proto::http_fields fields) const;
  /// Opens a port to a backend for that client. Errors: none was found; the reason is logged.
  loop::task<result<opened_port>> find_port(net::peer_info client, opening opening);
  loop::task<result<std::unique_ptr<net::message_port>>> port_to(const backend& backend,
                                                                 net::connection connection,
                                                                 opening opening);
  void report_no_backend(const net::peer_info& client, const error& why);

  loop::loop& loop_;
  message_means means_;
  id_maker ids_;
  std::string pseudonym_ = "strata-" + ids_.request_id().substr(0, 12);
  std::deque<front> fronts_;
  bool is_silent_ = false;
  loop::task_group receiving_;
  loop::task_group serving_;
};

}  // namespace strata::runtime::proxy
