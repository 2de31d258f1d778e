#include "daemon/takeover/activation.hpp"

#include <unistd.h>

#include <cstdlib>

#include "loop/socket_shelf.hpp"
#include "text/number.hpp"

namespace strata::daemon::takeover {

namespace {

constexpr int first_passed = STDERR_FILENO + 1;
constexpr int most_passed = 4096;

int number_of(const char* variable) {
  const char* const value = std::getenv(variable);
  return value == nullptr ? 0 : text::number_in<int>(value).value_or(0);
}

}  // namespace

void take_activation_sockets() {
  const bool is_for_this = number_of("LISTEN_PID") == ::getpid();
  const int count = number_of("LISTEN_FDS");
  for (const auto* const each : {"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"}) ::unsetenv(each);
  if (!is_for_this || count < 0 || count > most_passed) return;
  auto& shelf = loop::socket_shelf::of_process();
  for (int each = first_passed; each < first_passed + count; ++each) {
    shelf.put(unique_fd(each), loop::socket_shelf::stay::always);
  }
}

}  // namespace strata::daemon::takeover
