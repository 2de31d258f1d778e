// The daemon without the CLI, for ThreadSanitizer:
// `daemon --state-dir PATH --socket PATH --loop BACKEND`.
#include "daemon/daemon.hpp"

#include <fmt/format.h>

#include <string_view>

int main(int argc, char** argv) {
  strata::options::daemon_options wanted;
  for (int i = 2; i + 1 < argc; i += 2) {
    const std::string_view flag = argv[i];
    if (flag == "--state-dir") {
      wanted.state_dir = argv[i + 1];
    } else if (flag == "--socket") {
      wanted.socket = argv[i + 1];
    } else if (flag == "--loop") {
      wanted.loop = argv[i + 1];
    } else {
      fmt::print(stderr, "no flag {} here\n", flag);
      return 2;
    }
  }
  return strata::daemon::run(wanted);
}
