#include "measure/report/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "measure/counting/statistics.hpp"
#include "text/readable.hpp"

namespace strata::measure {

namespace {

using json = nlohmann::json;

// A common point of wider intervals means little.
constexpr double narrow = 1.5;
constexpr std::array measures{"one_way", "round_trip", "filter"};

// From here on, every value taken out of a result must have the right type: json throws otherwise.

// Returns the properties that must be equal for two rows to be of the same measurement.
json identity_of(const std::string& measure, const json& row) {
  return {{"measure", measure},
          {"payload", row.at("payload").get<std::uint64_t>()},
          {"path", row.at("path").get<std::string>()},
          {"tagged", row.at("tagged").get<bool>()},
          {"wait", row.value("wait", std::string())},
          {"foreign_per_s", row.value("foreign_per_s", 0.0)}};
}

json machine_of(const json& end) {
  const auto& from = end.at("machine");
  const auto load = from.value("load_average", json());
  return {{"cpu", from.value("cpu", std::string("unknown"))},
          {"cores", from.value("cores", 0)},
          {"kernel", from.value("kernel", std::string("unknown"))},
          {"virtual_machine", from.value("virtual_machine", false)},
          {"load_average", load.is_number() ? load : json(nullptr)}};
}

json host_of(const named_result& result) {
  const auto& of = result.document;
  const auto& link = of.at("link");
  json machines = json::array();
  for (const auto* const side : {"near", "far"}) machines.push_back(machine_of(link.at(side)));
  const auto revision = of.at("revision");
  return {{"name", result.name},
          {"link", link.at("kind").get<std::string>()},
          {"machines", std::move(machines)},
          {"began", of.at("began").get<std::string>()},
          {"command", of.at("command").get<std::string>()},
          {"revision", revision.is_string() ? revision : json(nullptr)},
          {"runs", of.at("runs").get<std::uint64_t>()},
          {"confidence", of.at("confidence").get<double>()}};
}

estimate estimate_from(const json& value, const json& host) {
  if (value.is_null()) return {};
  return {.median = value.at("median").get<double>(),
          .low = value.at("low").get<double>(),
          .high = value.at("high").get<double>(),
          .runs = host.at("runs").get<std::size_t>()};
}

json interval_of(const json& value) {
  if (value.is_null()) return nullptr;
  return {{"median", value.at("median").get<double>()},
          {"low", value.at("low").get<double>()},
          {"high", value.at("high").get<double>()}};
}

// Judges the ratios of one row together. Does nothing with fewer than two.
void judge(json& row, const json& hosts) {
  std::vector<estimate> all;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    const auto found = estimate_from(row.at("ratios").at(i), hosts.at(i));
    if (found.runs != 0) all.push_back(found);
  }
  row["agree"] = row["side"] = row["low"] = row["high"] = nullptr;
  if (all.size() < 2) return;
  const auto greatest_low = std::ranges::max(all, {}, &estimate::low).low;
  const auto least_high = std::ranges::min(all, {}, &estimate::high).high;
  const auto is_all = [&](bool above) {
    return std::ranges::all_of(all, [&](const estimate& each) {
      return each.runs >= least_runs && (above ? each.low > 1 : each.high < 1);
    });
  };
  const bool is_sure =
      std::ranges::all_of(all, [](const estimate& each) { return each.runs >= least_runs; });
  if (is_sure) row["agree"] = greatest_low <= least_high;
  row["side"] = is_all(true) ? "above" : is_all(false) ? "below" : "undecided";
  row["low"] = std::ranges::min(all, {}, &estimate::low).low;
  row["high"] = std::ranges::max(all, {}, &estimate::high).high;
}

json compare_all(const std::vector<named_result>& results) {
  auto hosts = json::array();
  auto rows = json::array();
  for (std::size_t i = 0; i < results.size(); ++i) {
    hosts.push_back(host_of(results[i]));
    for (const std::string measure : measures) {
      for (const auto& each : results[i].document.at(measure)) {
        if (each.contains("failure")) continue;
        const auto which = identity_of(measure, each);
        auto found = std::ranges::find_if(
            rows, [&](const json& row) { return row.at("measurement") == which; });
        if (found == rows.end()) {
          const std::vector<json> none(results.size(), nullptr);
          rows.push_back({{"measurement", which}, {"ratios", none}, {"figures", none}});
          found = std::prev(rows.end());
        }
        found->at("ratios").at(i) = interval_of(each.at("ratio_to_base"));
        found->at("figures").at(i) = interval_of(each.at("figure"));
      }
    }
  }
  for (auto& row : rows) judge(row, hosts);
  return {{"format", "strata bench compare"},
          {"version", 1},
          {"base", results.front().document.at("base").get<std::string>()},
          {"hosts", std::move(hosts)},
          {"rows", std::move(rows)}};
}

std::string text_of_cell(const json& value) {
  return value.is_null()      ? "unknown"
         : value.is_boolean() ? value.get<bool>() ? "yes" : "NO"
         : value.is_string()  ? text::printable(value.get<std::string>())
                              : value.dump();
}

std::string measure_text(const json& value) {
  if (value.at("measure") == "one_way") return "delivered/s";
  if (value.at("measure") == "filter") {
    const auto foreign = value.at("foreign_per_s").get<double>();
    return fmt::format("receiver ns, {} foreign/s", short_number(foreign));
  }
  return value.at("wait") == "busy" ? "round trip us, spinning" : "round trip us, blocking";
}

std::vector<std::string> name_cells(const json& value) {
  return {value.at("payload").dump(), measure_text(value),
          text_of_cell(value.at("path")) + (value.at("tagged").get<bool>() ? " +vlan" : "")};
}

void add_cells(std::vector<std::string>& texts, const json& values, const json& hosts) {
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    const auto value = estimate_from(values.at(i), hosts.at(i));
    texts.push_back(value.runs == 0 ? "-" : with_interval(value));
  }
}

// A far end that equals the near one is not described again.
std::string machine_text(const json& host) {
  std::string all;
  for (const auto& each : host.at("machines")) {
    const auto text =
        fmt::format("{}, {} cores{}, Linux {}", text_of_cell(each.value("cpu", json())),
                    text_of_cell(each.value("cores", json())),
                    each.value("virtual_machine", false) ? " (virtual)" : "",
                    text_of_cell(each.value("kernel", json())));
    if (!all.contains(text)) all += (all.empty() ? "" : "; ") + text;
  }
  return all;
}

std::string load_text(const json& host) {
  return text_of_cell(host.at("machines").at(0).value("load_average", json()));
}

table hosts_table(const json& hosts) {
  table made{.title = "Hosts",
             .rows = {{"HOST", "RESULT", "LINK", "MACHINE", "LOAD", "BEGAN", "REVISION", "RUNS"}}};
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    const auto& host = hosts.at(i);
    made.rows.push_back({std::to_string(i + 1), text_of_cell(host.at("name")),
                         text_of_cell(host.at("link")), machine_text(host), load_text(host),
                         text_of_cell(host.at("began")), text_of_cell(host.at("revision")),
                         host.at("runs").dump()});
  }
  return made;
}

std::vector<std::string> headings(const json& hosts, const std::string& text) {
  std::vector<std::string> made{"BYTES", "MEASURE", "PATH"};
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    made.push_back(fmt::format("{}{}", text, i + 1));
  }
  return made;
}

}  // namespace

result<json> compare(const std::vector<named_result>& results) {
  for (const auto& each : results) {
    const auto& of = each.document;
    if (!of.is_object() || of.value("format", json()) != "strata bench paths" ||
        of.value("version", json()) != 2) {
      return failure(errc::malformed, "compare '" + each.name + "'",
                     "it is not a result of this version's 'strata bench paths'",
                     "measure again with '--output DIR' or '--format json'");
    }
    const auto base = of.value("base", json());
    const auto first = results.front().document.value("base", json());
    if (base == first) continue;
    return failure(errc::invalid_argument, "compare '" + each.name + "'",
                   "its ratios are to " + base.dump() + ", but those of '" + results.front().name +
                       "' to " + first.dump(),
                   "measure both with the same --base");
  }
  try {
    return compare_all(results);
  } catch (const json::exception& wrong) {
    return failure(errc::malformed, "compare these results", wrong.what(),
                   "use results.json unchanged, as 'strata bench paths' wrote it");
  }
}

std::vector<table> comparison_tables(const json& compared) {
  const auto& hosts = compared.at("hosts");
  const auto base = text_of_cell(compared.at("base"));
  table ratios{.title = "Ratios to " + base, .rows = {headings(hosts, "X " + base + ", HOST ")}};
  for (const auto* const more : {"AGREE", "SIDE OF 1", "ALL TOGETHER"}) {
    ratios.rows.front().emplace_back(more);
  }
  table figures{.title = "Figures", .rows = {headings(hosts, "HOST ")}};
  for (const auto& row : compared.at("rows")) {
    auto cells = name_cells(row.at("measurement"));
    auto figure_cells = cells;
    add_cells(figure_cells, row.at("figures"), hosts);
    figures.rows.push_back(std::move(figure_cells));
    const auto& values = row.at("ratios");
    if (std::ranges::all_of(values, [](const json& each) { return each.is_null(); })) continue;
    add_cells(cells, values, hosts);
    const bool is_compared = !row.at("low").is_null();
    cells.push_back(is_compared ? text_of_cell(row.at("agree")) : "-");
    cells.push_back(is_compared ? text_of_cell(row.at("side")) : "-");
    cells.push_back(is_compared ? fmt::format("{} to {}", short_number(row.at("low").get<double>()),
                                              short_number(row.at("high").get<double>()))
                                : "-");
    ratios.rows.push_back(std::move(cells));
  }
  return {hosts_table(hosts), std::move(ratios), std::move(figures)};
}

std::string comparison_summary(const json& compared) {
  std::size_t all = 0;
  std::size_t agree = 0;
  std::size_t narrowly = 0;
  std::size_t same_side = 0;
  std::size_t unknown = 0;
  for (const auto& row : compared.at("rows")) {
    if (row.at("low").is_null()) continue;
    ++all;
    if (row.at("agree").is_null()) ++unknown;
    if (row.at("agree") == true) {
      ++agree;
      if (row.at("high").get<double>() <= narrow * row.at("low").get<double>()) ++narrowly;
    }
    if (row.at("side") == "above" || row.at("side") == "below") ++same_side;
  }
  return fmt::format(
      "{} ratios exist on two hosts or more: {} agree (their intervals overlap), {} of them "
      "within a factor of {:g}; {} are on the same side of 1 on all hosts.{}",
      all, agree, narrowly, narrow, same_side,
      unknown == 0
          ? ""
          : fmt::format(" {} are not judged: {} runs are too few.", unknown, least_runs - 1));
}

}  // namespace strata::measure
