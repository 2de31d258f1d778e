// The load generator's command line: `bench_load SCENARIO --flag value ...`.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string_view>

namespace strata::bench {

enum class protocol { lines, redis };

struct options {
  std::string_view scenario;
  protocol speak = protocol::lines;
  std::uint64_t port = 0;
  std::uint64_t server_pid = 0;  // 0: the server's CPU is not measured
  std::uint64_t size = 64;
  std::uint64_t window = 1;
  std::uint64_t receivers = 100;
  std::uint64_t connections = 1000;
  std::uint64_t stalled = 0;
  double seconds = 2;
  double interval = 1;

  std::uint16_t server_port() const { return static_cast<std::uint16_t>(port); }
};

// Fails the program, naming the flag, on what it does not know or what is out of range.
options parse_options(int argc, char** argv);

void print_help();

}  // namespace strata::bench
