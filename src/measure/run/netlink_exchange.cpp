#include "measure/run/netlink_exchange.hpp"

#include <elf.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "measure/counting/statistics.hpp"
#include "measure/node/machine.hpp"
#include "process/program_output.hpp"
#include "strata/base/unique_fd.hpp"
#include "text/json_text.hpp"

namespace strata::measure {

namespace {

using json = nlohmann::json;

struct contender {
  std::string_view name;
  bool is_ours = false;
  bool is_yardstick = false;
};
constexpr std::array contenders{
    contender{.name = "pure", .is_yardstick = true},
    contender{.name = "pure_static", .is_yardstick = true},
    contender{.name = "libnl"},
    contender{.name = "neli"},
    contender{.name = "cpp", .is_ours = true},
    contender{.name = "rust", .is_ours = true},
};
constexpr std::array kinds_of_time{"whole_ns", "exchange_ns"};
// The system calls that a client makes on its socket, whatever its library.
constexpr std::array<std::string_view, 12> on_socket{
    "socket", "bind",   "connect", "getsockname", "setsockopt", "getsockopt",
    "send",   "sendto", "sendmsg", "recv",        "recvfrom",   "recvmsg"};
constexpr double most_time = 1.0;  // as a multiple of the yardstick's
constexpr std::uint64_t most_calls = 25;

std::vector<std::string> command_for(const exchange_plan& plan, std::string_view name) {
  std::vector<std::string> words{(std::filesystem::path(plan.folder) / name).string()};
  if (plan.family.empty()) {
    words.emplace_back("--controller");
  } else {
    words.insert(words.end(), {"--family", plan.family});
  }
  return words;
}

/// A temporary file, removed by the destructor.
class scratch_file {
 public:
  scratch_file() {
    auto pattern = (std::filesystem::temp_directory_path() / "strata-trace-XXXXXX").string();
    fd_.reset(::mkstemp(pattern.data()));
    if (fd_) path_ = pattern;
  }
  scratch_file(const scratch_file&) = delete;
  scratch_file& operator=(const scratch_file&) = delete;
  ~scratch_file() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }
  /// Empty if the file could not be created.
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  unique_fd fd_;
  std::string path_;
};

/// Counts system calls from exec to exit, by strace: "PID name(…".
json count_system_calls(std::vector<std::string> command) {
  const scratch_file trace;
  if (trace.path().empty()) return nullptr;
  command.insert(command.begin(), {"strace", "-f", "-qq", "-o", trace.path()});
  command.emplace_back("once");
  if (!process::output_of(std::move(command))) return nullptr;
  std::uint64_t all = 0;
  std::uint64_t of_socket = 0;
  std::ifstream lines(trace.path());
  for (std::string line; std::getline(lines, line);) {
    const auto begin = line.find_first_not_of("0123456789 ");
    const auto end = line.find('(');
    // Signals and ends have another format, as does the second line of an interrupted call.
    if (begin == std::string::npos || end == std::string::npos || line[begin] == '+' ||
        line[begin] == '-' || line[begin] == '<') {
      continue;
    }
    ++all;
    const std::string_view name(line.data() + begin, end - begin);
    if (std::ranges::find(on_socket, name) != on_socket.end()) ++of_socket;
  }
  return {{"all", all}, {"on_socket", of_socket}};
}

/// A program's reported times, one element per run.
using runs = std::vector<json>;

result<json> run_once(const exchange_plan& plan, std::string_view name) {
  auto command = command_for(plan, name);
  command.emplace_back("time");
  command.push_back(std::to_string(plan.times));
  const auto program = command.front();
  const auto said = process::output_of(std::move(command));
  if (!said) return std::unexpected(said.error());
  auto made = text::parse_json(*said, "read the measured times").value_or(nullptr);
  for (const auto* const kind : kinds_of_time) {
    for (const auto* const part : {"median", "p99"}) {
      const json::json_pointer where(std::string("/") + kind + "/" + part);
      if (!made.is_object() || !made.contains(where) || !made.at(where).is_number()) {
        return failure(errc::malformed, "measure with " + program,
                       "it printed no " + where.to_string() + ": " + said->substr(0, 200),
                       "build it again: make -C examples/netlink_exchange OUT=" + plan.folder);
      }
    }
  }
  return made;
}

std::vector<double> samples_of(const runs& runs, const std::string& kind, const std::string& part) {
  std::vector<double> samples;
  for (const auto& run : runs) samples.push_back(run.at(kind).at(part).get<double>());
  return samples;
}

json json_of(const estimate& figure) {
  return {{"median", figure.median}, {"low", figure.low}, {"high", figure.high}};
}

/// Returns how a program is linked: a 64-bit ELF file that names no interpreter is linked
/// statically. Empty for other files.
std::string linking_of(const std::string& program) {
  std::ifstream file(program, std::ios::binary);
  Elf64_Ehdr header{};
  if (!file.read(reinterpret_cast<char*>(&header), sizeof header) ||
      std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64) {
    return {};
  }
  for (int i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr part{};
    file.seekg(static_cast<std::streamoff>(header.e_phoff + i * sizeof part));
    if (!file.read(reinterpret_cast<char*>(&part), sizeof part)) return {};
    if (part.p_type == PT_INTERP) return "dynamic";
  }
  return "static";
}

/// A client, the results of its runs, and its system calls.
struct measured_client {
  contender who;
  runs of;
  std::string linking;
  json system_calls;
};

json row_of(const measured_client& client) {
  json row{{"client", client.who.name},
           {"linking", client.linking.empty() ? json(nullptr) : json(client.linking)},
           {"system_calls", client.system_calls}};
  for (const std::string kind : kinds_of_time) {
    row[kind] = json_of(estimate_of(samples_of(client.of, kind, "median")));
    row[kind]["p99"] = median(samples_of(client.of, kind, "p99"));
  }
  return row;
}

json times_goal(const measured_client& ours, const measured_client& peer, const std::string& kind) {
  const auto ratio =
      ratio_of(samples_of(ours.of, kind, "median"), samples_of(peer.of, kind, "median"));
  return {{"client", ours.who.name},
          {"figure", kind + " to " + std::string(peer.who.name) + "'s"},
          {"value", json_of(ratio)},
          {"goal", most_time},
          {"outcome", name_of(decide(ratio, false, most_time))}};
}

/// A count is exact, however often it is taken.
json calls_goal(const measured_client& ours) {
  const auto calls = ours.system_calls.at("all").get<std::uint64_t>();
  const auto outcome = calls < most_calls ? ruling::reached : ruling::missed;
  const auto value = static_cast<double>(calls);
  return {{"client", ours.who.name},
          {"figure", "system calls"},
          {"value", json_of({.median = value, .low = value, .high = value})},
          {"goal", most_calls - 1},
          {"outcome", name_of(outcome)}};
}

/// Compares times with the yardstick that is linked in the same way: the work of a dynamic program
/// before its first line is not the library's cost.
const measured_client* peer_of(const std::vector<measured_client>& all,
                               const measured_client& ours) {
  const auto found = std::ranges::find_if(all, [&](const measured_client& each) {
    return each.who.is_yardstick && each.linking == ours.linking;
  });
  return found == all.end() ? nullptr : &*found;
}

json goals_of(const std::vector<measured_client>& all) {
  auto goals = json::array();
  for (const auto& each : all) {
    if (!each.who.is_ours) continue;
    if (const auto* const peer = peer_of(all, each)) {
      for (const std::string kind : kinds_of_time) goals.push_back(times_goal(each, *peer, kind));
    }
    if (!each.system_calls.is_null()) goals.push_back(calls_goal(each));
  }
  return goals;
}

}  // namespace

result<json> measure_exchanges(
    const exchange_plan& plan,
    const std::function<void(double part, const std::string& next)>& report) {
  std::vector<measured_client> present;
  auto absent = json::array();
  for (const auto& each : contenders) {
    const auto program = std::filesystem::path(plan.folder) / each.name;
    if (::access(program.c_str(), X_OK) == 0) {
      present.push_back(
          {.who = each, .of = {}, .linking = linking_of(program), .system_calls = {}});
    } else {
      absent.push_back(each.name);
    }
  }
  if (present.empty()) {
    return failure(errc::not_found, "measure a netlink exchange",
                   "no client program is in '" + plan.folder + "'",
                   "build them: make -C examples/netlink_exchange OUT=" + plan.folder +
                       "; --clients names another folder");
  }
  const auto steps = static_cast<double>(plan.runs * present.size());
  double done = 0;
  for (std::uint64_t turn = 0; turn < plan.runs; ++turn) {
    for (std::size_t i = 0; i < present.size(); ++i) {
      // Each run begins with another client.
      auto& each = present[(i + turn) % present.size()];
      report(done++ / steps, std::string(each.who.name));
      auto run = run_once(plan, each.who.name);
      if (!run) return std::unexpected(run.error());
      each.of.push_back(std::move(*run));
    }
  }
  auto clients = json::array();
  for (auto& each : present) {
    each.system_calls = count_system_calls(command_for(plan, each.who.name));
    clients.push_back(row_of(each));
  }
  return json{{"machine", describe_machine()},
              {"other_end", plan.family.empty() ? "nlctrl" : plan.family},
              {"times", plan.times},
              {"runs", plan.runs},
              {"confidence", confidence_of(plan.runs)},
              {"clients", std::move(clients)},
              {"absent", std::move(absent)},
              {"goals", goals_of(present)}};
}

}  // namespace strata::measure
