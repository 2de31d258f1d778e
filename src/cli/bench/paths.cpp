// strata bench paths, strata bench node
#include "cli/bench/paths.hpp"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <fstream>

#include "cli/bench/rows.hpp"
#include "cli/terminal/listing.hpp"
#include "cli/terminal/output.hpp"
#include "cli/terminal/progress_bar.hpp"
#include "cli/terminal/table.hpp"
#include "measure/node/node.hpp"
#include "measure/node/running_part.hpp"
#include "measure/report/document.hpp"
#include "measure/report/report.hpp"
#include "measure/report/table.hpp"
#include "measure/run/experiment.hpp"

namespace strata::cli {

namespace {

struct host_and_port {
  std::string host;
  std::uint16_t port = 0;
};

outcome<host_and_port> split(const std::string& text) {
  const auto colon = text.rfind(':');
  host_and_port made{.host = text.substr(0, colon)};
  const auto digits = colon == std::string::npos ? "" : text.substr(colon + 1);
  const auto* const end = digits.data() + digits.size();
  const auto [stopped, wrong] = std::from_chars(digits.data(), end, made.port);
  if (made.host.empty() || wrong != std::errc() || stopped != end) {
    return refuse(exit_misused, fmt::format("'{}' is not HOST:PORT", text));
  }
  return made;
}

// Checks the flags that need both ends on one machine.
outcome<> check_two_machines(const invocation& call) {
  if (call.flags.contains("mtu")) {
    return refuse(exit_misused,
                  "--mtu is for the veth; with --iface set the MTU at both ends yourself: ip link "
                  "set IFACE mtu N");
  }
  if (!call.flags.contains("rate")) return {};
  return refuse(exit_misused,
                "--rate needs the same clock at both ends, which two machines do not have; leave "
                "out --rate or --iface");
}

outcome<measure::testbed> make_testbed(const invocation& call) {
  const auto interface = call.text("iface");
  const auto peer = call.text("peer");
  if (interface.empty() != peer.empty()) {
    return refuse(exit_misused,
                  "--iface and --peer go together: start 'strata bench node IFACE' on the other "
                  "machine, and give its address with --peer HOST:4790");
  }
  if (interface.empty()) {
    auto made = measure::testbed::make_veth();
    if (!made) return refuse(exit_failed, made.error());
    return std::move(*made);
  }
  if (auto possible = check_two_machines(call); !possible) {
    return std::unexpected(possible.error());
  }
  const auto where = split(peer);
  if (!where) return std::unexpected(where.error());
  auto made = measure::testbed::on_interface(interface, where->host, where->port);
  if (!made) return refuse(exit_failed, made.error());
  return std::move(*made);
}

// The command as it was typed, so that the measurement can be repeated.
std::string own_command() {
  std::ifstream file("/proc/self/cmdline");
  std::string all;
  for (std::string word; std::getline(file, word, '\0');) {
    all += all.empty() ? std::filesystem::path(word).filename().string() : ' ' + word;
  }
  return all;
}

void print_tables(const measure::findings& findings) {
  for (const auto& each : measure::tables_of(findings)) {
    std::vector<bool> to_the_right(each.rows.front().size(), true);
    to_the_right[0] = to_the_right[1] = false;
    print(fmt::format("{}\n{}\n", each.title, align(each.rows, to_the_right)));
  }
  print(fmt::format("{:.0f} s. {}\n", findings.seconds,
                    measure::meaning_of_intervals(findings.of.runs)));
  if (const auto missing = measure::missing_events(findings); !missing.empty())
    print(missing + '\n');
}

}  // namespace

measure::request request_of(const invocation& call) {
  measure::request made{.full = call.is_set("full"),
                        .measures = call.text("measures"),
                        .paths = call.text("paths"),
                        .payloads = call.text("payloads"),
                        .tagged = call.text("tagged", "some"),
                        .vlan_id = call.flags.value("vlan", std::uint16_t{10}),
                        .priority = call.flags.value("prio", std::uint8_t{7}),
                        .base = call.text("base", "udp"),
                        .rate = static_cast<double>(call.flags.value("rate", std::uint64_t{0})),
                        .planted_sleep = call.flags.contains("plant")};
  if (call.flags.contains("mtu")) made.mtu = call.flags["mtu"].get<std::uint32_t>();
  if (call.flags.contains("seconds")) made.seconds = call.flags["seconds"].get<double>();
  if (call.flags.contains("buffer")) made.buffer = call.flags["buffer"].get<std::uint64_t>();
  if (call.flags.contains("runs")) made.runs = call.flags["runs"].get<std::uint64_t>();
  if (call.flags.contains("foreign")) {
    made.foreign = static_cast<double>(call.flags["foreign"].get<std::uint64_t>());
  }
  return made;
}

outcome<int> measure(const invocation& call, measure::testbed& testbed, bool has_plain) {
  auto request = request_of(call);
  if (request.tagged == "none" && (call.flags.contains("vlan") || call.flags.contains("prio"))) {
    return refuse(exit_misused,
                  "--vlan and --prio are for tagged frames, but '--tagged none' sends none; leave "
                  "out one of the flags");
  }
  // The MTU of a real interface is given.
  if (!testbed.is_veth()) request.mtu = testbed.largest_mtu();
  const auto plan = measure::make_plan(request, testbed.largest_mtu(), has_plain);
  if (!plan) return refuse(exit_misused, plan.error());
  result<measure::findings> found;
  {
    progress_bar bar;
    found = measure::run_experiment(
        testbed, *plan, [&](double part, const std::string& next) { bar.show(part, next); });
  }
  if (!found) return refuse(exit_failed, found.error());
  found->command = own_command();
  found->revision = call.text("revision");
  if (const auto folder = call.text("output"); !folder.empty()) {
    if (auto written = measure::write_report(*found, folder); !written) {
      return refuse(exit_failed, written.error());
    }
  }
  if (call.as_json) {
    print_json(measure::document_of(*found));
  } else {
    print_tables(*found);
  }
  return exit_done;
}

outcome<int> run_bench_paths(const invocation& call) {
  auto testbed = make_testbed(call);
  if (!testbed) return std::unexpected(testbed.error());
  return measure(call, *testbed, !measure::plain_program().empty());
}

outcome<int> run_bench_node(const invocation& call) {
  if (call.is_set("stdio")) {
    const auto done = measure::run_far_node_on_stdio(call.words[0]);
    if (!done) return refuse(exit_failed, done.error());
    return exit_done;
  }
  const auto where = split(call.text("listen", "0.0.0.0:4790"));
  if (!where) return std::unexpected(where.error());
  const auto done =
      measure::run_far_node(call.words[0], where->host, where->port, call.is_set("once"),
                            [](const std::string& news) { print(news + '\n'); });
  if (!done) return refuse(exit_failed, done.error());
  return exit_done;
}

}  // namespace strata::cli
