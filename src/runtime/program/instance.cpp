#include "runtime/program/instance.hpp"

#include <algorithm>
#include <csignal>
#include <iterator>

namespace strata::runtime::program {

namespace {

struct signal_row {
  std::string_view name;
  int number;
};
constexpr signal_row signals[] = {{"TERM", SIGTERM}, {"INT", SIGINT},   {"QUIT", SIGQUIT},
                                  {"HUP", SIGHUP},   {"USR1", SIGUSR1}, {"USR2", SIGUSR2},
                                  {"KILL", SIGKILL}};

}  // namespace

int signal_number(std::string_view name) {
  const auto* const row = std::ranges::find(signals, name, &signal_row::name);
  return row == std::end(signals) ? 0 : row->number;
}

}  // namespace strata::runtime::program
