// What the control API answers on each of its routes. The routes are one table in
// control_routes.cpp, from which docs/openapi.yaml is generated. On the home loop.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "daemon/api/api_answer.hpp"
#include "daemon/api/feed.hpp"
#include "daemon/api/route_row.hpp"
#include "daemon/supervisor/supervisor.hpp"
#include "net/tls/slot.hpp"
#include "proto/http/http1.hpp"

namespace strata::daemon {

class control_answers {
 public:
  struct facts {
    std::string version;
    std::string loop;
    loop::time_point started;
  };
  /// A request, the name in its path, and the operation at the end of the path.
  struct call {
    const proto::http_request& request;
    std::string name;
    std::string body;
    const runtime::operation_row* operation = nullptr;
  };
  /// A row and its implementation: a function that answers, one that finds a stream's source, or
  /// both: then requests with `follow` get the stream. An operation that opens a session has none.
  struct route {
    route_row row;
    loop::task<api_answer> (control_answers::*run)(call) = nullptr;
    result<feed> (control_answers::*find_feed)(const call& call) const = nullptr;
    const runtime::operation_row* operation = nullptr;
  };

  /// `runtimes` and `loops` outlive this object.
  control_answers(supervisor& runtimes, runtime::loop_source& loops, facts facts)
      : supervisor_(runtimes), loops_(loops), facts_(std::move(facts)) {}

  /// Sets the certificates that `GET /v1/version` shows.
  void show_certificates(std::shared_ptr<const net::tls_slot> certificates) {
    certificates_ = std::move(certificates);
  }

  /// Opens the session of an operation, whose WebSocket is to be opened next.
  loop::task<result<std::unique_ptr<runtime::session>>> open_session(call call);

  [[nodiscard]] static std::span<const route> routes();
  [[nodiscard]] static std::vector<route_row> route_rows();

 private:
  [[nodiscard]] static std::vector<route> routes_of_records();
  [[nodiscard]] static std::vector<route> routes_of_runs();
  [[nodiscard]] static std::vector<route> routes_of_operations();

  [[nodiscard]] api_answer detail(const result<entry_ref>& entry, int status = 200) const;
  /// Returns `?timeout=TIME` as a time from now, or `usual`. Errors: it is no valid time.
  [[nodiscard]] result<loop::time_point> limit_of(const call& call, loop::time_point usual) const;
  /// Reads the operation's arguments. Errors: the query has a parameter that the row does not take.
  [[nodiscard]] result<runtime::operation_call> operation_call_of(call& call) const;

  loop::task<api_answer> get_version(call call);
  loop::task<api_answer> get_description(call call);
  loop::task<api_answer> get_types(call call);
  loop::task<api_answer> get_cluster(call call);
  loop::task<api_answer> drain_cluster(call call);
  loop::task<api_answer> end_drain(call call);
  loop::task<api_answer> set_drained(bool is_drained);
  loop::task<api_answer> list(call call);
  loop::task<api_answer> create(call call);
  loop::task<api_answer> show(call call);
  loop::task<api_answer> edit(call call);
  loop::task<api_answer> remove(call call);
  loop::task<api_answer> start(call call);
  loop::task<api_answer> stop(call call);
  loop::task<api_answer> restart(call call);
  loop::task<api_answer> reload(call call);
  loop::task<api_answer> ask(call call);
  loop::task<api_answer> stats(call call);
  loop::task<api_answer> all_stats(call call);
  loop::task<api_answer> metrics(call call);
  loop::task<api_answer> healthz(call call);
  loop::task<api_answer> readyz(call call);

  [[nodiscard]] result<feed> messages_of(const call& call) const;
  [[nodiscard]] result<feed> tap_of(const call& call) const;
  [[nodiscard]] result<feed> log_of(const call& call) const;
  [[nodiscard]] result<feed> events(const call& call) const;
  [[nodiscard]] result<feed> stats_of(const call& call) const;
  [[nodiscard]] result<feed> stats_of_all(const call& call) const;

  supervisor& supervisor_;
  runtime::loop_source& loops_;
  facts facts_;
  std::shared_ptr<const net::tls_slot> certificates_;
  std::string metrics_page_;
  loop::time_point metrics_written_{};
};

}  // namespace strata::daemon
