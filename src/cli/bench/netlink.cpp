// strata bench netlink
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/bench/rows.hpp"
#include "cli/terminal/listing.hpp"
#include "cli/terminal/output.hpp"
#include "cli/terminal/progress_bar.hpp"
#include "cli/terminal/table.hpp"
#include "measure/counting/statistics.hpp"
#include "measure/node/contender.hpp"
#include "measure/report/table.hpp"
#include "measure/run/netlink_exchange.hpp"

namespace strata::cli {

using nlohmann::json;

namespace {

measure::estimate estimate_from(const json& value, std::uint64_t runs, double unit) {
  return {.median = value.at("median").get<double>() / unit,
          .low = value.at("low").get<double>() / unit,
          .high = value.at("high").get<double>() / unit,
          .runs = runs};
}

std::string times_cell(const json& times, std::uint64_t runs) {
  return fmt::format("{} / {:.2f}", measure::with_interval(estimate_from(times, runs, 1000)),
                     times.at("p99").get<double>() / 1000);
}

std::string calls_cell(const json& calls, const char* text) {
  return calls.is_null() ? "-" : calls.at(text).dump();
}

void print_table(const json& document) {
  const auto runs = document.at("runs").get<std::uint64_t>();
  std::vector<std::vector<std::string>> rows{{"client", "linked", "connect + resolve + exchange",
                                              "exchange alone", "system calls", "on the socket"}};
  for (const auto& each : document.at("clients")) {
    const auto& calls = each.at("system_calls");
    const auto& linking = each.at("linking");
    rows.push_back({each.at("client"), linking.is_null() ? "-" : linking.get<std::string>(),
                    times_cell(each.at("whole_ns"), runs), times_cell(each.at("exchange_ns"), runs),
                    calls_cell(calls, "all"), calls_cell(calls, "on_socket")});
  }
  print(fmt::format("us, median / p99 of {}; the other end: {}\n{}{}\n",
                    document.at("times").dump(), document.at("other_end").get<std::string>(),
                    align(rows, {false, false, true, true, true, true}),
                    measure::meaning_of_intervals(runs)));
  for (const auto& each : document.at("goals")) {
    print(fmt::format("{}: {}: {}; goal: at most {}: {}\n", each.at("client").get<std::string>(),
                      each.at("figure").get<std::string>(),
                      measure::with_interval(estimate_from(each.at("value"), runs, 1)),
                      each.at("goal").dump(), each.at("outcome").get<std::string>()));
  }
  for (const auto& each : document.at("absent")) {
    print(fmt::format("{}: not measured: its program is missing\n", each.get<std::string>()));
  }
  const auto has_no_count = [](const json& each) { return each.at("system_calls").is_null(); };
  if (std::ranges::any_of(document.at("clients"), has_no_count)) {
    print("system calls: not counted: strace is missing or not permitted to trace\n");
  }
}

}  // namespace

outcome<int> run_bench_netlink(const invocation& call) {
  const auto clients = measure::contender_path("clients");
  const measure::exchange_plan plan{
      .folder = call.text("clients", clients.empty() ? "clients" : clients.c_str()),
      .family = call.text("family"),
      .times = call.flags.value("times", std::uint64_t{100'000}),
      .runs = call.flags.value("runs", std::uint64_t{measure::least_runs})};
  result<json> measured;
  {
    progress_bar bar;
    measured = measure::measure_exchanges(
        plan, [&](double part, const std::string& next) { bar.show(part, next); });
  }
  if (!measured) {
    return refuse(measured.error().code == errc::not_found ? exit_not_found : exit_failed,
                  measured.error());
  }
  if (call.as_json) {
    print_json(*measured);
  } else {
    print_table(*measured);
  }
  return exit_done;
}

}  // namespace strata::cli
