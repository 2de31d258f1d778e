#include "measure/report/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <span>
#include <string_view>

#include "measure/report/document.hpp"
#include "measure/report/plot.hpp"
#include "measure/report/table.hpp"

namespace strata::measure {

namespace {

using json = nlohmann::json;

struct plot_row {
  const char* file;
  const char* title;
  const char* unit;
  bool is_logarithmic;
  quantity kind;
  bool busy;
  estimate (*value)(const findings&, const series&);
  std::span<const std::string_view> paths = {};  ///< empty means all
};

estimate headline_of(const findings& /*of*/, const series& one) { return one.headline_estimate(); }

// The few paths that matter most to a reader.
constexpr std::string_view round_trips[] = {"udp", "packet", "frame_ring", "xdp_native"};
constexpr std::string_view one_ways[] = {"udp", "packet", "packet_ring", "xdp_native"};
constexpr std::string_view packed[] = {"packet", "packet_ring", "xdp_native", "ipc"};
constexpr std::string_view trips[] = {"tcp", "packet", "frame_ring", "xdp_native"};

constexpr plot_row plots[] = {
    {"ratio-messages.svg", "Messages delivered, relative to the base path", "", true,
     quantity::one_way, false, ratio_to_base, packed},
    {"ratio-round-trip-busy.svg", "Round trip relative to the base path, receivers spin", "", true,
     quantity::round_trip, true, ratio_to_base, trips},
    {"ratio-round-trip-blocking.svg", "Round trip relative to the base path, receivers block", "",
     true, quantity::round_trip, false, ratio_to_base, trips},
    {"udp-and-raw-round-trip.svg", "Round trip by UDP and by raw frames, receivers spin", "us",
     false, quantity::round_trip, true, headline_of, round_trips},
    {"udp-and-raw-messages.svg", "Messages delivered by UDP and by raw frames", "messages/s", false,
     quantity::one_way, false, headline_of, one_ways},
    {"round-trip-busy.svg", "Round trip, receivers spin, all paths", "us", false,
     quantity::round_trip, true, headline_of},
    {"round-trip-blocking.svg", "Round trip, receivers block, all paths", "us", false,
     quantity::round_trip, false, headline_of},
    {"packets.svg", "Messages delivered, all paths", "messages/s", true, quantity::one_way, false,
     headline_of},
    {"bytes.svg", "Payload delivered, all paths", "bytes/s", true, quantity::one_way, false,
     [](const findings&, const series& one) { return one.bytes_estimate(); }},
    {"cpu.svg", "CPU of both ends' threads per delivered message, all paths", "ns", true,
     quantity::one_way, false,
     [](const findings&, const series& one) { return one.cpu_estimate(); }},
};

bool is_drawn(const plot_row& row, const series& one) {
  const auto name = one.path().name;
  return one.kind() == row.kind && one.is_busy() == row.busy && !one.is_tagged() &&
         one.failure().empty() &&
         (row.paths.empty() || std::ranges::find(row.paths, name) != row.paths.end());
}

plot plot_of(const plot_row& row, const findings& findings) {
  const bool is_ratio = row.value == ratio_to_base;
  plot made{.title = row.title,
            .unit = is_ratio ? fmt::format("times {}", findings.of.base->name) : row.unit,
            .is_logarithmic = row.is_logarithmic,
            .is_ratio = is_ratio};
  for (const auto& one : findings.all) {
    if (!is_drawn(row, one)) continue;
    const auto value = row.value(findings, one);
    if (value.runs == 0) continue;
    const auto& path = one.path();
    auto line = std::ranges::find(made.lines, path.name, &plot_line::name);
    if (line == made.lines.end()) {
      made.lines.push_back(
          {.name = std::string(path.name), .colour = path.colour, .dash = path.dash, .points = {}});
      line = std::prev(made.lines.end());
    }
    line->points.push_back(
        {static_cast<double>(one.payload()), value.median, value.low, value.high});
  }
  for (auto& line : made.lines) std::ranges::sort(line.points, {}, &plot_point::payload);
  return made;
}

std::string markdown_of(const table& table) {
  std::string out = fmt::format("## {}\n\n", table.title);
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    out += fmt::format("| {} |\n", fmt::join(table.rows[i], " | "));
    if (i != 0) continue;
    out += '|';
    for (std::size_t column = 0; column < table.rows[0].size(); ++column) {
      out += column < 2 ? "---|" : "--:|";
    }
    out += '\n';
  }
  return out + '\n';
}

std::string text_of(const json& value) {
  if (value.is_null()) return "unknown";
  if (value.is_boolean()) return value.get<bool>() ? "on" : "off";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string offloads_of(const json& end) {
  std::string out;
  const auto offloads = end.value("offloads", json::object());
  for (const auto& [name, value] : offloads.items()) {
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", name, text_of(value));
  }
  return out;
}

std::string conditions_of(const findings& findings) {
  const bool is_veth = findings.link.value("kind", "") == "veth";
  std::string out = "## Where and how\n\n";
  for (const auto* side : {"near", "far"}) {
    const auto end = findings.link.value(side, json::object());
    const auto machine = end.value("machine", json::object());
    out += fmt::format(
        "- {}: Linux {} on {} ({}{} cores, governor {}; load average before: {}); {}; offloads: "
        "{}\n",
        side, text_of(machine.value("kernel", json())), text_of(machine.value("cpu", json())),
        machine.value("virtual_machine", false) ? "virtual machine, " : "",
        text_of(machine.value("cores", json())), text_of(machine.value("governor", json())),
        text_of(machine.value("load_average", json())), text_of(end.value("interface", json())),
        offloads_of(end));
  }
  out += is_veth ? "- A veth between two network namespaces, MTU 1500, and 9000 for payloads above "
                   "1500 B. The near end's process is pinned to the first core, the far end's to "
                   "the second (if there are two).\n"
                 : "- On real interfaces, each as configured.\n";
  return out + fmt::format(
                   "- Each measurement sends for {:g} s. In a run each path is measured once with "
                   "each payload; paths and payloads take turns. {} Ratios and differences are "
                   "those within each run. A goal whose bound lies within the interval is "
                   "undecided; of ten such intervals, about one misses the true value.\n"
                   "- A receiver has {} KiB of memory: its socket buffer or its ring.\n"
                   "- DELIVERED/S is counted by the receiver, from its first batch to its last, "
                   "by its own clock; each message has a sequence number and counts once. LOST "
                   "counts messages that the kernel accepted and the receiver never saw.\n"
                   "- CPU is that of the sending and the receiving thread (CLOCK_THREAD_CPUTIME_ID)"
                   " per message. {}\n"
                   "- A round trip is measured by the near end, and its times are counted in "
                   "buckets of 1.6 %.\n{}\n",
                   findings.of.seconds, meaning_of_intervals(findings.of.runs),
                   findings.of.buffer / 1024,
                   is_veth ? "On a veth the kernel's receive work (softirq) runs on the sender's "
                             "core and is billed to the sender."
                           : "Kernel work in interrupts is billed to the interrupted thread.",
                   findings.of.planted_sleep
                       ? "- **A bug was planted: the receiver sleeps 1 ms every 1000 messages.**\n"
                       : "");
}

constexpr std::string_view caveats =
    "## Caveats\n\n"
    "- **`udp_gso` beats every raw path in messages/s, and so does `tcp_batch` while messages are "
    "small**, which is correct: they pass the kernel 64 messages at once, which then make one "
    "trip through the stack as one buffer and are cut apart at the receiver, or by a network card. "
    "Each raw frame makes the trip alone, however many a system call carries. A program that has "
    "many small messages for one peer and can wait for them gains more by joining them than by "
    "omitting IP.\n"
    "- A veth is not a network card: no DMA, no interrupt moderation, no wire. It shows the cost "
    "of the software. Native XDP on a veth may lose to plain sockets, because each frame must be "
    "copied into a page first; on a network card the opposite holds.\n"
    "- UDP payloads above 1472 B go out as fragments at MTU 1500; raw frames carry 1500 B.\n"
    "- `plain_*` are C programs of bare system calls that request the same from the kernel as the "
    "library (an EtherType filter, the VLAN tag, the sender's address): the difference is the cost "
    "of the library. A program that needs none of these and calls recv is faster, because the "
    "kernel does less, whatever its language.\n"
    "- The measuring processes run at nice -20 in their own scheduling group, where permitted: "
    "this keeps the machine's other work out of the figures, unlike in a normal program.\n"
    "- A virtual machine's clock and its neighbours show in p99.9. Compare ratios within one run, "
    "not figures of two runs.\n";

result<void> write_file(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  file.close();
  if (file) return {};
  return system_failure(errno == 0 ? EIO : errno, "write " + path.string());
}

}  // namespace

std::string report_of(const findings& findings) {
  std::string out = "# What raw Ethernet, UDP and TCP cost on this machine\n\n";
  out += fmt::format(
      "By `{}`{}, started at {}, in {:.0f} s; the figures are in [results.json](results.json).\n\n",
      findings.command.empty() ? "strata bench paths" : findings.command,
      findings.revision.empty() ? "" : ", revision " + findings.revision, findings.began,
      findings.seconds);
  out += conditions_of(findings);
  for (const auto& row : plots) {
    if (!plot_of(row, findings).lines.empty())
      out += fmt::format("![{}]({})\n\n", row.title, row.file);
  }
  for (const auto& each : tables_of(findings)) out += markdown_of(each);
  if (const auto missing = missing_events(findings); !missing.empty()) out += missing + "\n\n";
  out += "## Paths\n\n";
  for (const auto& row : catalogue()) out += fmt::format("- `{}`: {}\n", row.name, row.title);
  return out + '\n' + std::string(caveats);
}

result<void> write_report(const findings& findings, const std::string& folder) {
  std::error_code wrong;
  std::filesystem::create_directories(folder, wrong);
  if (wrong) return system_failure(wrong.value(), "create the folder " + folder);
  const std::filesystem::path in(folder);
  auto done = write_file(in / "results.json", document_of(findings).dump(2) + '\n');
  if (done) done = write_file(in / "report.md", report_of(findings));
  for (const auto& row : plots) {
    if (!done) break;
    const auto drawn = plot_of(row, findings);
    if (!drawn.lines.empty()) done = write_file(in / row.file, draw(drawn));
  }
  return done;
}

}  // namespace strata::measure
