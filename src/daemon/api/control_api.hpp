// The control API: HTTP/1.1 and JSON on a Unix socket, as docs/openapi.yaml describes it. The
// routes are one table in control_routes.cpp, from which that document is generated.
#pragma once

#include <boost/intrusive/list.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "daemon/api/access_policy.hpp"
#include "daemon/api/feed.hpp"
#include "daemon/api/route_row.hpp"
#include "daemon/supervisor/supervisor.hpp"
#include "http/exchange.hpp"
#include "loop/loop.hpp"
#include "serve/acceptor.hpp"

namespace strata::daemon {

class control_api {
 public:
  struct facts {
    std::string version;
    std::string loop;
    loop::time_point started;
    std::shared_ptr<runtime::journal> log;  ///< log of the API itself
  };

  control_api(supervisor& runtimes, runtime::loop_source& loops, facts facts);
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
  /// From now on refuses new requests; those under way are completed.
  void refuse_requests() { closing_ = true; }
  void stop();

  [[nodiscard]] static std::vector<route_row> route_rows();

 private:
  struct answer {
    int status = 200;
    std::string type = "application/json";
    std::string body;
  };
  /// A request, the name in its path, and the operation at the end of the path.
  struct call {
    const proto::http_request& request;
    std::string name;
    std::string body;
    const runtime::operation_row* operation = nullptr;
  };
  /// A row and its implementation: a function that answers, one that finds a stream's source, or
  /// both: then requests with `follow` get the stream.
  struct route {
    route_row row;
    loop::task<answer> (control_api::*run)(call) = nullptr;
    result<feed> (control_api::*find_feed)(const call& call) const = nullptr;
    const runtime::operation_row* operation = nullptr;
  };
  [[nodiscard]] static std::span<const route> routes();
  [[nodiscard]] static std::vector<route> routes_of_records();
  [[nodiscard]] static std::vector<route> routes_of_runs();
  [[nodiscard]] static std::vector<route> routes_of_operations();

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
  /// An active stream; its destructor removes it from the list.
  struct open_stream : boost::intrusive::list_base_hook<
                           boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
    open_stream(http::exchange& exchange, const api_client& client, runtime::role needed)
        : exchange(exchange), client(client), needed(needed) {}
    http::exchange& exchange;
    const api_client& client;
    runtime::role needed;
  };
  /// The route of a path: null if the path has no such method, or is unknown.
  struct destination {
    const route* served = nullptr;
    std::string name = {};
    bool is_path_known = false;
  };
  [[nodiscard]] serve::acceptor_settings acceptor_settings(listener_kind kind);
  loop::task<> serve(std::unique_ptr<net::stream> connection, serve::connection_gauge::place place,
                     listener_kind kind);
  loop::task<> handle(http::exchange& exchange, const api_client& client);
  loop::task<> dispatch(http::exchange& exchange, const api_client& client, runtime::role role);
  /// Reads the body, and runs the route.
  loop::task<answer> run(http::exchange& exchange, const api_client& client,
                         const destination& destination);
  [[nodiscard]] static destination find_route(const http::exchange& exchange,
                                              listener_kind listener);
  loop::task<> stream_to(http::exchange& exchange, const api_client& client, const route_row& row,
                         feed source, feed_request request);
  /// Nullopt if it lacks the token that its listener requires.
  [[nodiscard]] std::optional<runtime::role> role_of(const http::exchange& exchange,
                                                     const api_client& client) const;
  void refuse_token(http::exchange& exchange, const api_client& client);
  /// The answer for a caller whose role is too low; the log names the caller.
  answer refuse_role(const http::exchange& exchange, const api_client& client, const route_row& row,
                     runtime::role role);

  static void respond(http::exchange& exchange, const answer& answer);
  static answer as_answer(const error& failed);
  answer as_answer(const result<entry_ref>& entry, int status) const;

  /// Returns `?timeout=TIME` as a time from now, or `usual`. Errors: it is no valid time.
  [[nodiscard]] result<loop::time_point> limit_of(const call& call, loop::time_point usual) const;
  /// Reads the operation's arguments. Errors: the query has a parameter that the row does not take.
  [[nodiscard]] result<runtime::operation_call> operation_call_of(call& call) const;

  loop::task<answer> get_version(call call);
  loop::task<answer> get_description(call call);
  loop::task<answer> get_types(call call);
  loop::task<answer> list(call call);
  loop::task<answer> create(call call);
  loop::task<answer> show(call call);
  loop::task<answer> edit(call call);
  loop::task<answer> remove(call call);
  loop::task<answer> start(call call);
  loop::task<answer> stop(call call);
  loop::task<answer> restart(call call);
  loop::task<answer> reload(call call);
  loop::task<answer> ask(call call);
  loop::task<answer> stats(call call);
  loop::task<answer> all_stats(call call);
  loop::task<answer> metrics(call call);
  loop::task<answer> healthz(call call);
  loop::task<answer> readyz(call call);

  [[nodiscard]] result<feed> messages_of(const call& call) const;
  [[nodiscard]] result<feed> tap_of(const call& call) const;
  [[nodiscard]] result<feed> log_of(const call& call) const;
  [[nodiscard]] result<feed> events(const call& call) const;
  [[nodiscard]] result<feed> stats_of(const call& call) const;
  [[nodiscard]] result<feed> stats_of_all(const call& call) const;

  supervisor& supervisor_;
  runtime::loop_source& loops_;
  facts facts_;
  access_policy access_;
  boost::intrusive::list<open_stream, boost::intrusive::constant_time_size<false>> streams_;
  bool closing_ = false;
  serve::connection_gauge connections_;
  serve::acceptor api_;
  serve::acceptor remote_;
  std::shared_ptr<const net::tls_slot> secure_;
  bool are_metrics_secure_ = false;
  std::string metrics_page_;
  loop::time_point metrics_written_{};
  serve::acceptor metrics_;
};

}  // namespace strata::daemon
