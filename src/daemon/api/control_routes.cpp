// The routes of the control API: one row per method of a path. The rows of operations come from the
// type rows.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <iterator>

#include "daemon/api/control_answers.hpp"

namespace strata::daemon {

namespace {

constexpr std::string_view about_sessions =
    "The request opens a WebSocket (RFC 6455). The first byte of each message is a channel. From "
    "the client: 0, input; 4, the terminal's size as JSON, such as {\"rows\": 24, \"columns\": "
    "80}; 255 and 0, the end of the input. To the client: 1, output; 2, errors; 3, once, how it "
    "ended: {\"exit_code\": 0, \"signal\": 0}. It is ended with the WebSocket.";

}  // namespace

// One entry per row.
// clang-format off
std::vector<control_answers::route> control_answers::routes_of_records() {
  using enum runtime::role;
  return {
      {{.method = "GET", .path = "/v1/version",
        .summary = "The daemon's version, process id, loop backend and state folder",
        .answer = "Version", .may_fail = false},
       &control_answers::get_version},
      {{.method = "GET", .path = "/v1/openapi.yaml",
        .summary = "This description", .answer_type = "application/yaml", .may_fail = false},
       &control_answers::get_description},
      {{.method = "GET", .path = "/v1/types",
        .summary = "All runtime types, with their options, figures and operations",
        .answer = "Type[]", .may_fail = false},
       &control_answers::get_types},
      {{.method = "GET", .path = "/v1/cluster",
        .summary = "The daemons of the cluster with their runtimes, as last known",
        .answer = "Cluster"},
       &control_answers::get_cluster},
      {{.method = "POST", .path = "/v1/cluster/drain",
        .summary = "Make the other daemons choose no runtime of this one, which keeps running, as "
                   "a member of a group or by its name alone, until the daemon ends",
        .answer = "Cluster", .needed = operate, .is_change = true},
       &control_answers::drain_cluster},
      {{.method = "DELETE", .path = "/v1/cluster/drain",
        .summary = "Let the other daemons choose the runtimes of this one again",
        .answer = "Cluster", .needed = operate, .is_change = true},
       &control_answers::end_drain},
      {{.method = "GET", .path = "/v1/runtimes", .summary = "All runtimes, sorted by name",
        .answer = "Summary[]", .may_fail = false},
       &control_answers::list},
      {{.method = "POST", .path = "/v1/runtimes",
        .summary = "Create a runtime, and start it if `start` is true",
        .description = "The state file is on disk before the answer is sent. If the start fails, "
                       "nothing is created and the answer is the error of the start. With "
                       "`dry_run` all is checked and answered with 200, and nothing is created; "
                       "with `start`, what a start needs is checked too, such as free ports.",
        .body = "Creation", .answer = "Detail", .body_type = json_type, .status = 201,
        .needed = admin, .is_change = true},
       &control_answers::create},
      {{.method = "GET", .path = "/v1/runtimes/{name}",
        .summary = "One runtime with its options (a secret is shown as \"********\", a reference "
                   "unchanged: credential:NAME)",
        .answer = "Detail"},
       &control_answers::show},
      {{.method = "PATCH", .path = "/v1/runtimes/{name}", .summary = "Change options",
        .body = "Changes", .answer = "Edited", .body_type = json_type, .needed = admin,
        .is_change = true},
       &control_answers::edit},
      {{.method = "DELETE", .path = "/v1/runtimes/{name}",
        .summary = "Stop the runtime if it runs, like `stop`, and remove it", .answer_type = {},
        .status = 204, .needed = admin, .has_timeout = true, .is_change = true},
       &control_answers::remove},
  };
}

std::vector<control_answers::route> control_answers::routes_of_runs() {
  using enum runtime::role;
  return {
      {{.method = "POST", .path = "/v1/runtimes/{name}/start",
        .summary = "Start the runtime unless it runs", .answer = "Detail", .needed = operate,
        .is_change = true},
       &control_answers::start},
      {{.method = "POST", .path = "/v1/runtimes/{name}/stop",
        .summary = "Stop the runtime if it runs. It is `stopping` while it delivers and saves; "
                   "after `timeout`, such as 2.5s, it stops delivering; if it cannot save, it "
                   "keeps running. With 0 it neither delivers nor saves",
        .answer = "Detail", .needed = operate, .has_timeout = true, .is_change = true},
       &control_answers::stop},
      {{.method = "POST", .path = "/v1/runtimes/{name}/restart",
        .summary = "Stop the runtime if it runs, like `stop`, then start it",
        .answer = "Detail", .needed = operate, .has_timeout = true, .is_change = true},
       &control_answers::restart},
      {{.method = "POST", .path = "/v1/runtimes/{name}/reload",
        .summary = "Reread the certificates and reopen the logs of a running runtime; it keeps "
                   "its connections; it is restarted if an edit requires a restart",
        .answer = "Detail", .needed = operate, .is_change = true},
       &control_answers::reload},
      {{.method = "GET", .path = "/v1/runtimes/{name}/stats", .summary = "Counters and rates",
        .answer = "Stats", .has_interval = true},
       &control_answers::stats, &control_answers::stats_of},
      {{.method = "GET", .path = "/v1/stats",
        .summary = "Counters and rates of all runtimes, sorted by name", .answer = "Stats[]",
        .has_interval = true},
       &control_answers::all_stats, &control_answers::stats_of_all},
      {{.method = "GET", .path = "/v1/runtimes/{name}/messages",
        .summary = "Received messages as they arrive (an endless stream)",
        .answer = "Message", .answer_type = ndjson},
       nullptr, &control_answers::messages_of},
      {{.method = "GET", .path = "/v1/runtimes/{name}/tap",
        .summary = "Traffic of the runtime as it passes (an endless stream)",
        .description = "Messages, the heads of HTTP requests and answers, Redis commands, and the "
                       "bytes that a proxy forwards unchanged. TLS traffic is shown decrypted, but "
                       "credentials are hidden. A client that reads too slowly loses lines: the "
                       "next line has only `lost`, the number of lost lines.",
        .answer = "Tapped", .parameters = runtime::tap_rows(), .answer_type = ndjson,
        .needed = admin},
       nullptr, &control_answers::tap_of},
      {{.method = "GET", .path = "/v1/runtimes/{name}/logs",
        .summary = "The runtime's log lines (the last 1,000 are kept)",
        .answer = "LogLine", .answer_type = ndjson, .has_tail = true},
       nullptr, &control_answers::log_of},
      {{.method = "GET", .path = "/v1/events",
        .summary = "Events of runtimes (the last 1,000 are kept)",
        .answer = "Event", .answer_type = ndjson, .has_tail = true, .may_fail = false},
       nullptr, &control_answers::events},
      {{.method = "GET", .path = "/metrics",
        .summary = "All counters in Prometheus' text format 0.0.4", .answer_type = "text/plain",
        .may_fail = false, .is_public = true},
       &control_answers::metrics},
      {{.method = "GET", .path = "/healthz",
        .summary = "Answers while the daemon serves: a liveness probe",
        .answer_type = "text/plain", .may_fail = false, .is_public = true},
       &control_answers::healthz},
      {{.method = "GET", .path = "/readyz",
        .summary = "200 if every runtime that should run does; otherwise 503, with a line for each "
                   "that does not: a readiness probe",
        .answer_type = "text/plain", .is_public = true},
       &control_answers::readyz},
  };
}
// clang-format on

std::vector<control_answers::route> control_answers::routes_of_operations() {
  std::vector<route> all;
  for (const auto& [row, types] : runtime::all_operations()) {
    std::string summary(row->summary);
    summary.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(summary.front())));
    const bool has_session = row->open != nullptr;
    std::string answer(row->answer.empty() ? "Detail" : row->schema);
    if (row->is_list) answer += "[]";
    if (has_session) answer.clear();
    all.push_back(
        {.row = {.method = row->method,
                 .path = "/v1/runtimes/{name}/" + std::string(row->name),
                 .summary = fmt::format("{} (of a running {})", summary, fmt::join(types, ", ")),
                 .description = has_session ? about_sessions : std::string_view(),
                 .answer = std::move(answer),
                 .parameters = row->parameters,
                 .required = row->required,
                 .body_type = row->body_type,
                 .answer_type = has_session ? std::string_view() : json_type,
                 .status = has_session ? 101 : 200,
                 .needed = row->needed,
                 .has_timeout = row->timeout_s > 0,
                 .is_change = row->is_change},
         .run = has_session ? nullptr : &control_answers::ask,
         .operation = row});
  }
  return all;
}

std::span<const control_answers::route> control_answers::routes() {
  static const auto table = [] {
    auto all = routes_of_records();
    for (const auto rows : {routes_of_runs, routes_of_operations}) {
      std::ranges::move(rows(), std::back_inserter(all));
    }
    return all;
  }();
  return table;
}

std::vector<route_row> control_answers::route_rows() {
  std::vector<route_row> rows;
  for (const auto& each : routes()) rows.push_back(each.row);
  return rows;
}

}  // namespace strata::daemon
