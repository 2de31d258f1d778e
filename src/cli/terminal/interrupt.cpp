#include "cli/terminal/interrupt.hpp"

#include <csignal>
#include <initializer_list>

namespace strata::cli {

namespace {

volatile std::sig_atomic_t interrupted = 0;

}  // namespace

void watch_for_interrupt() {
  struct sigaction action{};
  action.sa_handler = [](int) { interrupted = 1; };
  for (const int each : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(each, &action, nullptr);
}

bool is_interrupted() { return interrupted != 0; }

}  // namespace strata::cli
