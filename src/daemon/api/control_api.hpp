// The control API: HTTP/1.1 and JSON on a Unix socket, as docs/openapi.yaml describes it. It finds
// out who asks, and whether the client may; `control_answers` has the routes.
#pragma once

#include <boost/intrusive/list.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "daemon/api/access_policy.hpp"
#include "daemon/api/control_answers.hpp"
#include "daemon/supervisor/supervisor.hpp"
#include "http/exchange.hpp"
#include "loop/loop.hpp"
#include "serve/acceptor.hpp"

namespace strata::daemon {

class control_api {
 public:
  /// `runtimes` and `loops` outlive this object; `log` is the log of the API itself.
  control_api(supervisor& runtimes, runtime::loop_source& loops, control_answers::facts facts,
              std::shared_ptr<runtime::journal> log);
  ~control_api();
  control_api(const control_api&) = delete;
  control_api& operator=(const control_api&) = delete;

  /// Serves the whole API on a Unix socket, to the daemon's user and to root (mode 0600), and to
  /// the members of `group` if there is one (mode 0660).
  result<void> listen(const std::string& path, std::optional<socket_group> group);
  /// Sets the certificates shown to TLS clients, and what these must present. Call it before the
  /// two functions below.
  void secure_with(std::shared_ptr<const net::tls_slot> certificates, remote_access access);
  /// Serves the whole API with TLS, on a TCP address.
  result<void> listen_remote(const loop::socket_address& address);
  /// Serves only `GET /metrics`, on a TCP address; with TLS, or to every client.
  result<void> listen_metrics(const loop::socket_address& address, bool is_secure);
  /// Future requests must present one of these tokens. Streams whose token is no longer listed, or
  /// has too low a role now, end at once.
  void replace_tokens(token_list tokens);
  /// Starts to answer; clients that connect earlier wait.
  void begin();
  /// Takes no more connections. Those that exist are served.
  loop::task<> stop_accepting();
  /// From now on refuses new requests; those under way are completed.
  void refuse_requests() { closing_ = true; }
  void stop();

 private:
  /// The whole API for local clients, the whole API for remote clients, or the metrics alone.
  enum class listener_kind : std::uint8_t { api, remote, metrics };
  /// Clients use TLS, and must present a token if there are tokens.
  [[nodiscard]] bool is_guarded(listener_kind kind) const {
    return kind == listener_kind::remote || (kind == listener_kind::metrics && are_metrics_secure_);
  }
  /// The client, and the listener that it uses.
  struct api_client {
    listener_kind listener;
    runtime::role role;  ///< that of its process or its certificate
    std::string text;    ///< `uid 1000, pid 4242`; `10.0.0.7:5123, CN=ann`
  };
  /// An active stream or session, which `end` ends; its destructor removes it from the list.
  struct open_stream : boost::intrusive::list_base_hook<
                           boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
    open_stream(http::exchange& exchange, const api_client& client, runtime::role needed,
                std::function<void()> end)
        : exchange(exchange), client(client), needed(needed), end(std::move(end)) {}
    http::exchange& exchange;
    const api_client& client;
    runtime::role needed;
    std::function<void()> end;
  };
  /// The route of a path: null if the path has no such method, or is unknown.
  struct destination {
    const control_answers::route* served = nullptr;
    std::string name = {};
    bool is_path_known = false;
  };
  [[nodiscard]] serve::acceptor_settings acceptor_settings(listener_kind kind);
  loop::task<> serve(std::unique_ptr<net::stream> connection, serve::connection_gauge::place place,
                     listener_kind kind);
  loop::task<> handle(http::exchange& exchange, const api_client& client);
  loop::task<> dispatch(http::exchange& exchange, const api_client& client, runtime::role role);
  /// Reads the body, and runs the route.
  loop::task<api_answer> run(http::exchange& exchange, const api_client& client,
                             const destination& destination);
  [[nodiscard]] static destination find_route(const http::exchange& exchange,
                                              listener_kind listener);
  loop::task<> stream_to(http::exchange& exchange, const api_client& client, const route_row& row,
                         feed source, feed_request request);
  /// Opens a session of the route, and holds it.
  loop::task<> hold_session(http::exchange& exchange, const api_client& client,
                            const destination& destination);
  /// Nullopt if it lacks the token that its listener requires.
  [[nodiscard]] std::optional<runtime::role> role_of(const http::exchange& exchange,
                                                     const api_client& client) const;
  void refuse_token(http::exchange& exchange, const api_client& client);
  /// The answer for a caller whose role is too low; the log names the caller.
  api_answer refuse_role(const http::exchange& exchange, const api_client& client,
                         const route_row& row, runtime::role role);

  static void respond(http::exchange& exchange, const api_answer& answer);
  supervisor& supervisor_;
  const std::shared_ptr<runtime::journal> log_;
  control_answers answers_;
  access_policy access_;
  boost::intrusive::list<open_stream, boost::intrusive::constant_time_size<false>> streams_;
  bool closing_ = false;
  serve::connection_gauge connections_;
  serve::acceptor api_;
  serve::acceptor remote_;
  std::shared_ptr<const net::tls_slot> secure_;
  bool are_metrics_secure_ = false;
  serve::acceptor metrics_;
};

}  // namespace strata::daemon
