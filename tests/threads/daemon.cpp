// The daemon without the CLI, for ThreadSanitizer:
// `daemon --state-dir PATH --socket PATH --loop BACKEND`.
#include "daemon/daemon.hpp"

#include <fmt/format.h>

#include <string_view>

int main(int argc, char** argv) {
  strata::daemon::settings how;
  for (int i = 2; i + 1 < argc; i += 2) {
    const std::string_view flag = argv[i];
    if (flag == "--state-dir") {
      how.state_dir = argv[i + 1];
    } else if (flag == "--socket") {
      how.socket = argv[i + 1];
    } else if (flag == "--loop") {
      how.loop = argv[i + 1];
    } else {
      fmt::print(stderr, "no flag {} here\n", flag);
      return 2;
    }
  }
  return strata::daemon::run(how);
}
