#include "options.hpp"

#include <fmt/core.h>

#include <array>
#include <charconv>
#include <variant>

#include "failure.hpp"
#include "message.hpp"

namespace strata::bench {

namespace {

using number_member = std::variant<std::uint64_t options::*, double options::*>;

struct flag {
  std::string_view name;
  number_member member;
  double least;
  double most;
  std::string_view help;
};

const std::array flags{
    flag{"--port", &options::port, 1, 65535, "the server's port on 127.0.0.1"},
    flag{"--server-pid", &options::server_pid, 1, 4194304, "measure this process's CPU too"},
    flag{"--size", &options::size, message_format::min_size, message_format::max_size,
         "bytes a message, its newline included (relay, fanout, hold)"},
    flag{"--window", &options::window, 1, 65536,
         "messages in flight at most, by the slowest receiver (relay, fanout)"},
    flag{"--receivers", &options::receivers, 1, 10000, "receivers (fanout)"},
    flag{"--connections", &options::connections, 1, 60000, "connections (idle, hold)"},
    flag{"--stalled", &options::stalled, 0, 1000, "clients that never read (hold)"},
    flag{"--seconds", &options::seconds, 0.01, 3600, "how long to send"},
    flag{"--interval", &options::interval, 0.001, 60, "seconds between messages (hold)"},
};

template <class Number>
Number parse_number(const flag& row, std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const auto number = static_cast<double>(value);
  if (error != std::errc{} || end != text.data() + text.size() || number < row.least ||
      number > row.most) {
    fail(fmt::format("{} '{}': expected a number from {} to {}", row.name, text, row.least,
                     row.most));
  }
  return value;
}

void apply(options& out, std::string_view name, std::string_view text) {
  if (name == "--protocol") {
    if (text != "lines" && text != "redis") {
      fail(fmt::format("--protocol '{}': expected lines or redis", text));
    }
    out.speak = text == "redis" ? protocol::redis : protocol::lines;
    return;
  }
  for (const flag& row : flags) {
    if (row.name != name) continue;
    std::visit([&]<class Number>(
                   Number options::* member) { out.*member = parse_number<Number>(row, text); },
               row.member);
    return;
  }
  fail(fmt::format("unknown flag '{}': see bench_load --help", name));
}

}  // namespace

options parse_options(int argc, char** argv) {
  options out;
  out.scenario = argc > 1 ? argv[1] : "--help";
  if (out.scenario == "--help") return out;
  for (int i = 2; i < argc; i += 2) {
    if (i + 1 == argc) fail(fmt::format("{}: its value is missing", argv[i]));
    apply(out, argv[i], argv[i + 1]);
  }
  if (out.port == 0) fail("--port is missing");
  return out;
}

void print_help() {
  fmt::print(
      "bench_load SCENARIO --port PORT [--flag value ...]\n"
      "Loads a broadcast server and prints one JSON object of what its receivers got.\n\n"
      "scenarios: relay fanout connect-rate idle hold\n"
      "  {:<14} lines (a line goes to all others) or redis (PUBLISH, SUBSCRIBE)\n",
      "--protocol");
  for (const flag& row : flags) fmt::print("  {:<14} {}\n", row.name, row.help);
}

}  // namespace strata::bench
