#include "runtime/proxy/choice/figures.hpp"

#include <algorithm>
#include <iterator>

#include "runtime/scripting/figures.hpp"

namespace strata::runtime::proxy {

void branch_figures::count(int status, std::optional<std::uint64_t> us) {
  count_by_class(answers, status);
  if (us) latency.add(*us);
}

// One figure per row of two or three lines.
// clang-format off
const std::vector<options::bound_figure<branch_figures>>& backend_table() {
  static const std::vector<options::bound_figure<branch_figures>> table = {
      {{.key = "answers", .help = "HTTP answers of a backend, by the class of their status",
        .metric = "strata_backend_answers_total", .label = "class", .cases = answer_classes()},
       &branch_figures::answers},
      {{.key = "retries",
        .help = "HTTP requests sent to another backend because this one broke off",
        .metric = "strata_backend_retries_total"},
       &branch_figures::retries},
      {{.key = "latency", .kind = options::figure_kind::latency,
        .help = "time from the arrival of an HTTP request to the end of the backend's answer",
        .metric = "strata_backend_latency_seconds"},
       &branch_figures::latency},
  };
  return table;
}

const std::vector<options::bound_figure<branch_figures>>& route_table() {
  static const std::vector<options::bound_figure<branch_figures>> table = {
      {{.key = "answers", .help = "HTTP answers on a route, by the class of their status",
        .metric = "strata_route_answers_total", .label = "class", .cases = answer_classes()},
       &branch_figures::answers},
      {{.key = "retries",
        .help = "HTTP requests on a route sent to another backend because one broke off",
        .metric = "strata_route_retries_total"},
       &branch_figures::retries},
      {{.key = "latency", .kind = options::figure_kind::latency,
        .help = "time from the arrival of an HTTP request on a route to the end of its answer",
        .metric = "strata_route_latency_seconds"},
       &branch_figures::latency},
  };
  return table;
}

const std::vector<options::bound_figure<proxy_figures>>& figure_table() {
  static const auto table = [] {
    auto all = options::figures_for<proxy_figures>(web_figure_table());
    const std::vector<options::bound_figure<proxy_figures>> own = {
        {{.key = "http.latency", .kind = options::figure_kind::latency,
          .help = "time from the arrival of an HTTP request to the end of its answer",
          .metric = "strata_http_latency_seconds", .column = "p99", .is_hidden = true},
         &proxy_figures::latency},
        {{.key = "http.retries",
          .help = "HTTP requests sent to another backend because the previous one broke off",
          .metric = "strata_http_retries_total", .column = "retries", .is_hidden = true},
         &proxy_figures::retries},
        {{.key = "clients.denied",
          .help = "connections closed and HTTP requests answered with 403 because of --allow and "
                  "--deny",
          .metric = "strata_clients_denied_total", .column = "denied", .is_hidden = true},
         &proxy_figures::denied},
        {{.key = "clients.limited",
          .help = "connections closed and HTTP requests answered with 429 because of "
                  "--rate-per-client",
          .metric = "strata_clients_limited_total", .column = "limited", .is_hidden = true},
         &proxy_figures::limited},
        {{.key = "queue.waiting", .kind = options::figure_kind::gauge,
          .help = "clients of a proxy that wait for a backend that is not full",
          .metric = "strata_proxy_queue", .column = "waiting", .is_hidden = true},
         &proxy_figures::waiting},
        {{.key = "queue.turned_away",
          .help = "clients of a proxy that found the queue for a backend full or waited too long "
                  "in it",
          .metric = "strata_proxy_turned_away_total", .column = "turned_away", .is_hidden = true},
         &proxy_figures::turned_away},
        {{.key = "access_log.lost",
          .help = "lines of the access log lost because its file could not be written",
          .metric = "strata_access_log_lost_total", .column = "log_lost", .is_hidden = true},
         &proxy_figures::log_lines_lost},
    };
    all.insert(all.end(), own.begin(), own.end());
    return all;
  }();
  return table;
}
// clang-format on

const std::vector<options::figure_row>& figure_rows() {
  static const auto rows = [] {
    auto all = scripting::script_figure_rows();
    std::ranges::move(rows_of(figure_table()), std::back_inserter(all));
    return all;
  }();
  return rows;
}

std::span<const detail_row> detail_rows() {
  static const auto backend_rows = rows_of(backend_table());
  static const auto route_rows = rows_of(route_table());
  static constexpr std::string_view backend_labels[] = {"route", "backend"};
  static constexpr std::string_view route_labels[] = {"route"};
  static const detail_row rows[] = {{"backends", backend_labels, backend_rows},
                                    {"routes", route_labels, route_rows}};
  return rows;
}

}  // namespace strata::runtime::proxy
