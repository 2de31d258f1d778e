// strata top [NAME|GLOB|@GROUP]...
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <thread>

#include "cli/daemon_client/control_client.hpp"
#include "cli/daemon_client/names.hpp"
#include "cli/runtimes/rows.hpp"
#include "cli/runtimes/sampler.hpp"
#include "cli/terminal/listing.hpp"
#include "cli/terminal/live_screen.hpp"
#include "cli/terminal/output.hpp"
#include "cli/terminal/screen.hpp"
#include "cli/terminal/table.hpp"
#include "text/readable.hpp"

namespace strata::cli {

using nlohmann::json;

namespace {

struct figure_column {
  std::string_view heading;
  const char* key;
  unit of = unit::none;
};

constexpr figure_column figure_columns[] = {
    {"CONNECTIONS", "connections"},
    {"IN", "in_per_s", unit::per_second},
    {"OUT", "out_per_s", unit::per_second},
    {"BYTES/S", "bytes_per_s", unit::bytes},
    {"ERRORS", "errors"},
    {"P99", "p99_ms", unit::milliseconds},
};

using cells = std::vector<std::string>;

void add_figures_of(const json& object, cells& cells) {
  for (const auto& each : figure_columns)
    cells.push_back(format_cell(object.at(each.key), each.of));
}

std::string name_of_backend(const json& backend) {
  constexpr std::size_t longest_route = 32;
  const auto route = text::shortened(text::printable(text_at(backend, "route")), longest_route);
  const auto name = "  " + text::printable(text_at(backend, "backend"));
  return route.empty() ? name : fmt::format("{} ({})", name, route);
}

std::string table_of(const json& sample, bool has_header) {
  std::vector<cells> rows;
  if (has_header) {
    auto& heading = rows.emplace_back(cells{"NAME", "TYPE", "STATE"});
    for (const auto& each : figure_columns) heading.emplace_back(each.heading);
  }
  for (const auto& each : sample.at("runtimes")) {
    add_figures_of(each, rows.emplace_back(cells{text::printable(text_at(each, "name")),
                                                 format_cell(each.at("type"), unit::none),
                                                 format_cell(each.at("state"), unit::none)}));
    for (const auto& backend : each.at("backends")) {
      add_figures_of(backend,
                     rows.emplace_back(cells{name_of_backend(backend), "backend",
                                             format_cell(backend.at("state"), unit::none)}));
    }
  }
  std::vector<bool> to_the_right(3, false);
  to_the_right.resize(3 + std::size(figure_columns), true);
  return align(rows, to_the_right);
}

/// The name of a `--sort` word in a sample.
std::string sort_key(const std::string& word) {
  if (word == "in" || word == "out" || word == "bytes") return word + "_per_s";
  return word == "p99" ? "p99_ms" : word;
}

void sort_by(const std::string& word, json& sample) {
  if (word == "name") return;  // keeps the daemon's order
  const auto key = sort_key(word);
  auto& all = sample.at("runtimes").get_ref<json::array_t&>();
  const auto value = [&key](const json& of) {
    const auto& figure = of.at(key);
    return figure.is_number() ? figure.get<double>() : -1.0;
  };
  std::ranges::stable_sort(all, std::ranges::greater{}, value);
}

struct watching {
  const invocation& call;
  sampler from;
  std::chrono::milliseconds interval;

  outcome<json> take() {
    auto sample = from.take();
    if (sample) sort_by(call.text("sort", "name"), *sample);
    return sample;
  }
};

outcome<int> watch(watching watching) {
  live_screen screen;
  for (;;) {
    const auto sample = watching.take();
    if (!sample) return std::unexpected(sample.error());
    const auto head =
        fmt::format("strata top  {:%H:%M:%S}  q quits\n\n", fmt::localtime(::time(nullptr)));
    screen.draw(head + table_of(*sample, true));
    if (screen.is_quit_within(watching.interval)) return exit_done;
  }
}

/// `count`: the number of samples; 0: without end, each as one line of JSON.
outcome<int> print_samples(watching watching, std::uint64_t count) {
  auto all = json::array();
  for (std::uint64_t taken = 0; count == 0 || taken < count; ++taken) {
    if (taken > 0) std::this_thread::sleep_for(watching.interval);
    auto sample = watching.take();
    if (!sample) return std::unexpected(sample.error());
    if (watching.call.as_json && count == 0) {
      print(text::escaped_for_json(sample->dump()) + "\n");
    } else if (watching.call.as_json) {
      all.push_back(std::move(*sample));
    } else if (watching.call.quiet) {
      print_names(watching.call, sample->at("runtimes"));
    } else {
      print((taken > 0 ? "\n" : "") + table_of(*sample, !watching.call.is_set("no_header")));
    }
  }
  if (watching.call.as_json) print_json(all);
  return exit_done;
}

}  // namespace

outcome<int> run_top(const invocation& call) {
  constexpr double least_interval_s = 0.01;
  const auto interval_s = call.flags.value("interval", 1.0);
  if (!(interval_s >= least_interval_s)) {
    return refuse(exit_misused, fmt::format("cannot refresh every {} s: give an --interval of {} s "
                                            "or more",
                                            interval_s, least_interval_s));
  }
  control_client client(call.daemon);
  const auto interval = std::chrono::milliseconds(static_cast<std::int64_t>(interval_s * 1000));
  watching by{.call = call, .from = sampler(client, call.words), .interval = interval};
  const auto count = call.flags.value("count", std::uint64_t{0});
  if (count == 0 && !call.as_json && !call.quiet && has_screen()) return watch(std::move(by));
  return print_samples(std::move(by), count == 0 && !call.as_json ? 1 : count);
}

}  // namespace strata::cli
