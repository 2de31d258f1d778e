#include "measure/run/netlink_exchange.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

#include "measure/counting/statistics.hpp"
#include "measure/node/machine.hpp"
#include "measure/node/program_output.hpp"
#include "strata/base/unique_fd.hpp"
#include "text/json_text.hpp"

namespace strata::measure {

namespace {

using json = nlohmann::json;

struct contender {
  std::string_view name;
  bool is_ours;
};
constexpr std::array contenders{contender{"pure", false}, contender{"libnl", false},
                                contender{"neli", false}, contender{"cpp", true},
                                contender{"rust", true}};
constexpr std::string_view yardstick = "pure";
constexpr std::array kinds_of_time{"whole_ns", "exchange_ns"};
// The system calls that a client makes on its socket, whatever library it uses.
constexpr std::array<std::string_view, 12> on_socket{
    "socket", "bind",   "connect", "getsockname", "setsockopt", "getsockopt",
    "send",   "sendto", "sendmsg", "recv",        "recvfrom",   "recvmsg"};
constexpr double most_time = 1.0;  // of the yardstick's
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

/// A file of ours that is gone when this is.
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
  /// Empty when it could not be made.
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  unique_fd fd_;
  std::string path_;
};

/// From exec to exit, by strace: "PID name(…".
json count_system_calls(std::vector<std::string> command) {
  const scratch_file trace;
  if (trace.path().empty()) return nullptr;
  command.insert(command.begin(), {"strace", "-f", "-qq", "-o", trace.path()});
  command.emplace_back("once");
  if (!output_of(std::move(command))) return nullptr;
  std::uint64_t all = 0;
  std::uint64_t of_socket = 0;
  std::ifstream lines(trace.path());
  for (std::string line; std::getline(lines, line);) {
    const auto begin = line.find_first_not_of("0123456789 ");
    const auto end = line.find('(');
    // Signals and ends are told otherwise, and a call that was interrupted a second time.
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

/// What a program said of its times, a run each.
using runs = std::vector<json>;

result<json> run_once(const exchange_plan& plan, std::string_view name) {
  auto command = command_for(plan, name);
  command.emplace_back("time");
  command.push_back(std::to_string(plan.times));
  const auto program = command.front();
  const auto said = output_of(std::move(command));
  if (!said) return std::unexpected(said.error());
  auto made = text::parse_json(*said, "read its times").value_or(nullptr);
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

double median_of(const runs& of, const std::string& kind, const std::string& part) {
  std::vector<double> samples;
  for (const auto& run : of) samples.push_back(run.at(kind).at(part).get<double>());
  return median(samples);
}

json row_of(const exchange_plan& plan, std::string_view name, const runs& of) {
  json row{{"client", name}};
  for (const std::string kind : kinds_of_time) {
    row[kind] = {{"median", median_of(of, kind, "median")}, {"p99", median_of(of, kind, "p99")}};
  }
  row["system_calls"] = count_system_calls(command_for(plan, name));
  return row;
}

json goals_of(const json& clients) {
  const auto row_named = [&](std::string_view name) {
    return std::find_if(clients.begin(), clients.end(),
                        [&](const json& row) { return row.at("client") == name; });
  };
  const auto peer = row_named(yardstick);
  auto goals = json::array();
  for (const auto& each : contenders) {
    const auto row = row_named(each.name);
    if (!each.is_ours || row == clients.end()) continue;
    for (const std::string kind : kinds_of_time) {
      if (peer == clients.end()) continue;
      const auto ratio =
          row->at(kind).at("median").get<double>() / peer->at(kind).at("median").get<double>();
      goals.push_back({{"client", each.name},
                       {"figure", kind + " to " + std::string(yardstick) + "'s"},
                       {"value", ratio},
                       {"goal", most_time},
                       {"reached", ratio <= most_time}});
    }
    if (row->at("system_calls").is_null()) continue;
    const auto calls = row->at("system_calls").at("all").get<std::uint64_t>();
    goals.push_back({{"client", each.name},
                     {"figure", "system calls"},
                     {"value", calls},
                     {"goal", most_calls - 1},
                     {"reached", calls < most_calls}});
  }
  return goals;
}

}  // namespace

result<json> measure_exchanges(
    const exchange_plan& plan,
    const std::function<void(double part, const std::string& next)>& tell) {
  std::vector<std::string_view> present;
  auto absent = json::array();
  for (const auto& each : contenders) {
    const auto program = std::filesystem::path(plan.folder) / each.name;
    if (::access(program.c_str(), X_OK) == 0) {
      present.push_back(each.name);
    } else {
      absent.push_back(each.name);
    }
  }
  if (present.empty()) {
    return failure(errc::not_found, "measure a netlink exchange",
                   "none of its programs is in '" + plan.folder + "'",
                   "build them: make -C examples/netlink_exchange OUT=" + plan.folder +
                       "; --clients names another folder");
  }
  std::vector<runs> made(present.size());
  const auto steps = static_cast<double>(plan.repetitions * present.size());
  double done = 0;
  for (std::uint64_t turn = 0; turn < plan.repetitions; ++turn) {
    for (std::size_t i = 0; i < present.size(); ++i) {
      tell(done++ / steps, std::string(present[i]));
      auto run = run_once(plan, present[i]);
      if (!run) return std::unexpected(run.error());
      made[i].push_back(std::move(*run));
    }
  }
  auto clients = json::array();
  for (std::size_t i = 0; i < present.size(); ++i) {
    clients.push_back(row_of(plan, present[i], made[i]));
  }
  auto goals = goals_of(clients);
  return json{
      {"machine", describe_machine()}, {"other_end", plan.family.empty() ? "nlctrl" : plan.family},
      {"times", plan.times},           {"repetitions", plan.repetitions},
      {"clients", std::move(clients)}, {"absent", std::move(absent)},
      {"goals", std::move(goals)}};
}

}  // namespace strata::measure
