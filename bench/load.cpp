// bench_load: one process, one thread, one epoll; a scenario a run. Counts at the receivers.

#include <fmt/core.h>

#include <array>

#include "failure.hpp"
#include "scenarios.hpp"
#include "socket.hpp"

namespace {

using namespace strata::bench;

struct scenario {
  std::string_view name;
  void (*run)(const options&);
};

constexpr std::array scenarios{
    scenario{"relay", run_relay},
    scenario{"fanout", run_fanout},
    scenario{"connect-rate", run_connect_rate},
    scenario{"idle", run_idle},
    scenario{"hold", run_hold},
};

}  // namespace

int main(int argc, char** argv) {
  const options wanted = parse_options(argc, argv);
  if (wanted.scenario == "--help") {
    print_help();
    return 0;
  }
  raise_descriptor_limit();
  for (const scenario& row : scenarios) {
    if (row.name != wanted.scenario) continue;
    row.run(wanted);
    return 0;
  }
  fail(fmt::format("unknown scenario '{}': see bench_load --help", wanted.scenario));
}
