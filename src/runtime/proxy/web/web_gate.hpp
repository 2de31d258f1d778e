// The HTTP side of a gate: each request of a client goes to a backend, over a connection that it
// shares with those before and behind it, and the backend's answer goes to the client.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

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
#include "runtime/proxy/web/ledger.hpp"
#include "runtime/proxy/web/own_words.hpp"
#include "runtime/proxy/web/pool.hpp"
#include "runtime/proxy/web/route.hpp"
#include "runtime/tap.hpp"
#include "runtime/web/http_clients.hpp"
#include "runtime/web/http_serving.hpp"
#include "serve/connection_gauge.hpp"

namespace strata::runtime::proxy {

/// What a gate lets its HTTP side use. All of it outlives that.
struct web_means {
  const proxy_options& options;
  backends& to;
  using dialer = std::function<loop::task<result<std::unique_ptr<net::stream>>>(
      backend_ref, std::string preface)>;
  /// Connects to a backend, and says the preface. Errors: of the connection; the backend has been
  /// marked.
  dialer dial;
  /// The same, once more, of one that speaks HTTP/2: TLS is to agree on HTTP/1.1. An error says
  /// nothing of the backend, and does not mark it.
  dialer dial_http1;
  /// Keeps running what goes on serving a connection.
  std::function<void(loop::task<>)> adopt;
  /// Joins two channels until both have ended.
  struct switched {
    std::uint64_t id;           ///< the client's
    std::string_view protocol;  ///< as of a `client_report`
    std::unique_ptr<net::byte_channel> channel;
  };
  std::function<loop::task<>(switched client, std::unique_ptr<net::byte_channel> backend)> join;
  /// Gives the id of a client that arrives.
  std::function<std::uint64_t()> next_client;
  tap& shown;
  const std::string& name;  ///< the runtime's
  counters& counted;
  proxy_figures& figures;
  admission& admits;
  journal& log;
  /// Null: there is none.
  const std::unique_ptr<gate_script>& script;
};

class web_gate {
 public:
  web_gate(loop::loop& loop, web_means means);

  /// Finds out what it speaks, and has it served until it ends.
  [[nodiscard]] loop::task<> serve(std::unique_ptr<net::stream> client,
                                   serve::connection_gauge::place place);
  /// Options are others now.
  void apply();
  /// Connections to backends that are not among these are of no use any more.
  void retain(const std::vector<backend_ref>& used) { pool_.retain(used); }
  /// The clients that are connected.
  void add_clients(std::vector<client_report>& clients) const {
    add_reports(connections_, clients);
  }
  /// Ends a client. False: it has gone.
  bool disconnect(std::uint64_t client) { return disconnect_client(connections_, client); }
  /// No connection takes new requests; those under way are answered.
  void retire();
  /// Breaks off those that are still there.
  void abort();
  /// Awaits that all of them have ended, until `limit` at the longest.
  [[nodiscard]] loop::task<> ended(loop::time_point limit);
  /// It works from now on; to be called on the loop.
  void begin();
  /// Calls `tell` with each route's text and backends.
  void for_each_route(const std::function<void(const std::string&, const backends&)>& tell) const {
    for (const auto& each : routes_) tell(each->is.text, each->to);
  }
  void for_each_route(const std::function<void(const std::string&, backends&)>& work) {
    for (const auto& each : routes_) work(each->is.text, each->to);
  }
  /// The backends of the first route for the host of that name, which an edit may take away
  /// meanwhile. Null: there is none.
  [[nodiscard]] std::shared_ptr<backends> named(const std::string& host) const;
  /// What is counted of each route, and of what no route takes.
  [[nodiscard]] std::vector<branch> branches() const;
  /// Where a line goes for each request, from now on; null: nowhere. It outlives this.
  void set_log(access_log* log) { ledger_.set_log(log); }
  /// Errors: of one that cannot be read; then they are as before.
  [[nodiscard]] result<void> read_pages() {
    return words_.read_pages(loop_, means_.options.error_pages);
  }

 private:
  /// A connection to a backend, for one request.
  struct backend_leg {
    backend_use use;
    std::unique_ptr<http::inquiry> over;
    std::string preface;  ///< what its backend was told before all requests
    bool was_pooled = false;
    std::string cookie = {};                  ///< that the client is to be given; empty: none
    std::string request_id = {};              ///< the same
    script::lazy_table* described = nullptr;  ///< the request, for a script
  };
  /// Why a backend has not answered. `is_unheard`: nothing of an answer has come. `is_refused`: the
  /// backend has not processed the request, and says so.
  struct failed_try {
    error why;
    std::string backend;
    bool is_unheard = true;
    bool is_refused = false;
  };
  struct upload;
  /// A request's body as far as it has been sent, for another try.
  struct sent_body {
    std::string bytes;
    proto::http_fields trailers;
    bool is_whole = false;
    bool is_lost = false;  // more than may be kept
  };
  struct route {
    route(route_text text, const backend_means& means) : is(std::move(text)), to(means, is.text) {}

    route_text is;
    backends to;
    std::shared_ptr<branch_figures> counted = std::make_shared<branch_figures>();
  };

  loop::task<> answer(http::exchange& exchange);
  /// Answers a request that is not to be served, and says whether it was one.
  bool turn_away(http::exchange& exchange, const loop::socket_address& client);
  loop::task<> serve_request(http::exchange& exchange, transit& transit);
  /// The script changes it first, or answers it.
  loop::task<> serve_scripted(http::exchange& exchange, forwarded_request request,
                              transit& transit);
  void answer_as_failed(http::exchange& exchange);
  /// Where on_route sends it: `to` null, and it goes as the options say; or it has been answered.
  struct ordered {
    bool is_answered = false;
    backends* to = nullptr;
    std::shared_ptr<route> keeps;  ///< what it is of
  };
  [[nodiscard]] ordered obey(http::exchange& exchange, result<gate_script::direction> chosen,
                             transit& transit);
  /// The set that it is of.
  [[nodiscard]] std::pair<backends*, std::shared_ptr<route>> home_of(const backend& backend);
  [[nodiscard]] std::shared_ptr<route> route_of(const proto::http_request& request) const;
  /// Does what the first route that matches says, if there is one.
  loop::task<> follow_route(http::exchange& exchange, forwarded_request request, transit& transit);
  loop::task<> pass_on(http::exchange& exchange, const forwarded_request& request,
                       backends& backends, transit& transit);
  loop::task<result<backend_leg>> reach(const net::peer_info& client, wish wish, backends& backends,
                                        std::vector<backend_ref>& tried);
  /// What is asked on a connection that has just been made.
  std::unique_ptr<http::inquiry> speak_on(std::unique_ptr<net::stream> stream,
                                          const backend_leg& leg);
  /// Makes sure that it may be asked to switch to that protocol, perhaps on another connection.
  /// Errors: why it cannot be.
  loop::task<result<void>> make_switchable(const std::string& protocol, backend_leg& leg);
  /// Sends the request's head to the backend. Says whether a body follows.
  bool begin_on(http::exchange& exchange, const forwarded_request& request, backend_leg& leg,
                const sent_body& sent);
  /// Nullopt: it has been answered, or nobody waits for that any more.
  loop::task<std::optional<failed_try>> try_on(http::exchange& exchange,
                                               const forwarded_request& request, backend_leg& leg,
                                               sent_body& sent);
  loop::task<> send_body(http::exchange& exchange, backend_leg& leg, upload& progress,
                         sent_body& sent);
  void keep(sent_body& sent, const std::string& piece, const backend_leg& leg) const;
  loop::task<result<proto::http_response_head>> await_head(http::exchange& exchange,
                                                           backend_leg& leg, upload& progress);
  loop::task<> watch(http::exchange& exchange, backend_leg& leg, upload& progress);
  /// More of the answer's body. The client is watched while the backend is silent for long.
  loop::task<result<std::string>> await_piece(http::exchange& exchange, backend_leg& leg,
                                              upload& progress);
  loop::task<> pass_back(http::exchange& exchange, backend_leg& leg, proto::http_response_head head,
                         upload& progress);
  /// What the script makes of an answer. False: the client has been told that it has failed.
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
  /// What the client is told beside what the backend has said.
  void dress(proto::http_fields& answer, const backend_leg& leg) const;
  [[nodiscard]] loop::time_point next_limit(loop::time_point since) const;

  loop::loop& loop_;
  web_means means_;
  std::string pseudonym_;
  std::vector<loop::network> trusted_;
  balancing balance_;
  http_service service_;
  http::refusal refuse_;
  std::vector<field_rule> to_backend_;
  std::vector<field_rule> to_client_;
  id_maker ids_;
  std::vector<std::shared_ptr<route>> routes_;  // a request keeps its own
  pool pool_;
  std::shared_ptr<branch_figures> unrouted_ = std::make_shared<branch_figures>();
  ledger ledger_;
  own_words words_;
  http::served_connection::list connections_;
  loop::condition gone_;
  bool has_begun_ = false;
  bool is_retiring_ = false;
};

}  // namespace strata::runtime::proxy
