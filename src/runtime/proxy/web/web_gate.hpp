// The HTTP side of a gate: each request of a client goes to a backend, over a connection shared
// with other requests, and the backend's answer goes to the client.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "http/client/connection_pool.hpp"
#include "http/exchange.hpp"
#include "http/served_connection.hpp"
#include "loop/condition.hpp"
#include "loop/names/network.hpp"
#include "runtime/counters.hpp"
#include "runtime/journal.hpp"
#include "runtime/proxy/admission/admission.hpp"
#include "runtime/proxy/choice/backends.hpp"
#include "runtime/proxy/choice/figures.hpp"
#include "runtime/proxy/heads/field_rule.hpp"
#include "runtime/proxy/heads/forwarding.hpp"
#include "runtime/proxy/heads/tracing.hpp"
#include "runtime/proxy/options.hpp"
#include "runtime/proxy/script/gate_script.hpp"
#include "runtime/proxy/web/own_answers.hpp"
#include "runtime/proxy/web/request_reporter.hpp"
#include "runtime/proxy/web/route.hpp"
#include "runtime/tap.hpp"
#include "runtime/web/http_clients.hpp"
#include "runtime/web/http_serving.hpp"
#include "serve/connection_gauge.hpp"

namespace strata::runtime::proxy {

/// What a gate provides to its HTTP side. All of it outlives that.
struct web_means {
  const proxy_options& options;
  backends& to;
  using dialer = std::function<loop::task<result<std::unique_ptr<net::stream>>>(
      backend_ref, std::string preface)>;
  /// Connects to a backend, and sends the preface. Errors: those of the connection; the failure has
  /// been recorded for the backend.
  dialer dial;
  /// The same, again, for a backend that speaks HTTP/2: TLS is to negotiate HTTP/1.1. An error says
  /// nothing about the backend, and is not recorded.
  dialer dial_http1;
  /// Continues to run a task that serves a connection.
  std::function<void(loop::task<>)> adopt;
  /// Joins two channels of WebSockets until both have ended.
  struct switched {
    std::uint64_t id;  ///< the client's
    std::unique_ptr<net::byte_channel> channel;
  };
  std::function<loop::task<>(switched client, std::unique_ptr<net::byte_channel> backend)> join;
  /// Returns the id of a new client.
  std::function<std::uint64_t()> next_client;
  tap& shown;
  const std::string& name;  ///< the runtime's
  counters& counted;
  proxy_figures& figures;
  admission& admits;
  journal& log;
  /// Null if there is none.
  const std::unique_ptr<gate_script>& script;
};

class web_gate {
 public:
  web_gate(loop::loop& loop, web_means means);

  /// Detects the protocol, and serves the client until it ends.
  [[nodiscard]] loop::task<> serve(std::unique_ptr<net::stream> client,
                                   serve::connection_gauge::place place);
  /// Applies changed options.
  void apply();
  /// Drops connections to backends that are not among these.
  void retain(const std::vector<backend_ref>& used) {
    pool_.retain([&used](const void* server) {
      return std::ranges::any_of(used, [server](const auto& each) { return each.get() == server; });
    });
  }
  /// Adds the connected clients.
  void add_clients(std::vector<client_report>& clients) const {
    add_reports(connections_, clients);
  }
  /// Ends a client. Returns false if it has gone.
  bool disconnect(std::uint64_t client) { return disconnect_client(connections_, client); }
  /// Connections take no new requests; those under way are answered.
  void retire();
  /// Breaks off the remaining connections.
  void abort();
  /// Waits until all of them have ended, until `limit` at most.
  [[nodiscard]] loop::task<> ended(loop::time_point limit);
  /// Starts to work; call it on the loop.
  void begin();
  /// Calls `visit` with each route's text and backends.
  void for_each_route(const std::function<void(const std::string&, const backends&)>& visit) const {
    for (const auto& each : routes_) visit(each->is.text, each->to);
  }
  void for_each_route(const std::function<void(const std::string&, backends&)>& work) {
    for (const auto& each : routes_) work(each->is.text, each->to);
  }
  /// The backends of the first route for that host, which an edit may remove meanwhile. Null if
  /// there is none.
  [[nodiscard]] std::shared_ptr<backends> named(const std::string& host) const;
  /// The figures of each route, and of requests without a route.
  [[nodiscard]] std::vector<branch> branches() const;
  /// Sets where each request is logged; null: nowhere. `log` outlives this object.
  void set_log(access_log* log) { reporter_.set_log(log); }
  /// Errors: a page cannot be read; then the present ones stay in use.
  [[nodiscard]] result<void> read_pages() {
    return own_answers_.read_pages(loop_, means_.options.error_pages);
  }

 private:
  /// A connection to a backend, for one request.
  struct backend_leg {
    backend_use use;
    std::unique_ptr<http::inquiry> over;
    std::string preface;  ///< sent to the backend before all requests
    bool was_pooled = false;
    std::string cookie = {};                  ///< for the client; empty: none
    std::string request_id = {};              ///< likewise
    script::lazy_table* described = nullptr;  ///< the request, for a script
  };
  /// Why a backend has not answered. `is_unanswered`: no part of an answer has arrived.
  /// `is_refused`: the backend reports that it has not processed the request.
  struct failed_try {
    error why;
    std::string backend;
    bool is_unanswered = true;
    bool is_refused = false;
  };
  struct upload;
  /// The part of a request's body that has been sent, for another try.
  struct sent_body {
    std::string bytes;
    proto::http_fields trailers;
    bool is_whole = false;
    bool is_lost = false;  // longer than the limit for keeping it
  };
  struct route {
    route(route_text text, const backend_means& means) : is(std::move(text)), to(means, is.text) {}

    route_text is;
    backends to;
    std::shared_ptr<branch_figures> counted = std::make_shared<branch_figures>();
  };

  loop::task<> answer(http::exchange& exchange);
  /// Answers a request that is not to be served; reports whether it did.
  bool turn_away(http::exchange& exchange, const loop::socket_address& client);
  loop::task<> serve_request(http::exchange& exchange, transit& transit);
  /// The script changes the request first, or answers it.
  loop::task<> serve_scripted(http::exchange& exchange, forwarded_request request,
                              transit& transit);
  void answer_as_failed(http::exchange& exchange);
  /// The destination that on_route chose: null `to` means as the options say; or it has been
  /// answered.
  struct ordered {
    bool is_answered = false;
    backends* to = nullptr;
    std::shared_ptr<route> keeps;  ///< route that owns `to`
  };
  [[nodiscard]] ordered obey(http::exchange& exchange, result<gate_script::direction> chosen,
                             transit& transit);
  /// The set of backends that it belongs to.
  [[nodiscard]] std::pair<backends*, std::shared_ptr<route>> home_of(const backend& backend);
  [[nodiscard]] std::shared_ptr<route> route_of(const proto::http_request& request) const;
  /// Carries out the first route that matches, if there is one.
  loop::task<> follow_route(http::exchange& exchange, forwarded_request request, transit& transit);
  loop::task<> pass_on(http::exchange& exchange, const forwarded_request& request,
                       backends& backends, transit& transit);
  loop::task<result<backend_leg>> reach(const net::peer_info& client, wish wish, backends& backends,
                                        std::vector<backend_ref>& tried);
  /// Opens a request on a new connection.
  std::unique_ptr<http::inquiry> speak_on(std::unique_ptr<net::stream> stream,
                                          const backend_leg& leg);
  /// Ensures that the backend may be asked to switch to that protocol, perhaps on another
  /// connection. Errors: why it cannot be.
  loop::task<result<void>> make_switchable(const std::string& protocol, backend_leg& leg);
  /// Sends the request's head to the backend. Reports whether a body follows.
  bool begin_on(http::exchange& exchange, const forwarded_request& request, backend_leg& leg,
                const sent_body& sent);
  /// Nullopt: the request has been answered, or the client is gone.
  loop::task<std::optional<failed_try>> try_on(http::exchange& exchange,
                                               const forwarded_request& request, backend_leg& leg,
                                               sent_body& sent);
  loop::task<> send_body(http::exchange& exchange, backend_leg& leg, upload& progress,
                         sent_body& sent);
  void keep(sent_body& sent, const std::string& piece, const backend_leg& leg) const;
  loop::task<result<proto::http_response_head>> await_head(http::exchange& exchange,
                                                           backend_leg& leg, upload& progress);
  loop::task<> watch(http::exchange& exchange, backend_leg& leg, upload& progress);
  /// Receives more of the answer's body. Watches the client while the backend is silent for long.
  loop::task<result<std::string>> await_piece(http::exchange& exchange, backend_leg& leg,
                                              upload& progress);
  loop::task<> pass_back(http::exchange& exchange, backend_leg& leg, proto::http_response_head head,
                         upload& progress);
  /// Passes an answer through the script. Returns false if it has been answered already, in place
  /// of the backend.
  loop::task<bool> change_answer(http::exchange& exchange, const backend_leg& leg,
                                 gate_script::answered& answered);
  [[nodiscard]] bool changes(scripting::callback piece_of, const backend_leg& leg) const {
    return leg.described != nullptr && means_.script->has(piece_of);
  }
  loop::task<bool> pass_piece(http::exchange& exchange, const backend_leg& leg,
                              const std::string* piece);
  loop::task<> switch_over(http::exchange& exchange, backend_leg& leg,
                           proto::http_response_head head) const;
  [[nodiscard]] forwarding forwarding_of(const http::exchange& exchange);
  /// Adds the proxy's own fields to the backend's answer.
  void dress(proto::http_fields& answer, const backend_leg& leg) const;
  [[nodiscard]] loop::time_point next_limit(loop::time_point since) const;

  loop::loop& loop_;
  web_means means_;
  std::string pseudonym_;
  std::vector<loop::network> trusted_;
  balancing balance_;
  http_service service_;
  std::vector<field_rule> to_backend_;
  std::vector<field_rule> to_client_;
  id_maker ids_;
  std::vector<std::shared_ptr<route>> routes_;  // a request keeps its own route alive
  http::connection_pool pool_;
  std::shared_ptr<branch_figures> unrouted_ = std::make_shared<branch_figures>();
  request_reporter reporter_;
  own_answers own_answers_;
  http::served_connection::list connections_;
  loop::condition gone_;
  bool has_begun_ = false;
  bool is_retiring_ = false;
};

}  // namespace strata::runtime::proxy
