// The daemon without the CLI, for ThreadSanitizer:
// `daemon --state-dir PATH --socket PATH --loop BACKEND`.
#include "daemon/daemon.hpp"

#include <fmt/format.h>

#include <string_view>

// The ring closes descriptors in the kernel, which ThreadSanitizer does not see: it takes the next
// use of the number for a race with the use before.
extern "C" const char* __tsan_default_suppressions();
extern "C" const char* __tsan_default_suppressions() {
  return "race:strata::loop::os_loop::open_stream\n";
}

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
