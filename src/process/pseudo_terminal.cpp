#include "process/pseudo_terminal.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <utility>

namespace strata::process {

result<pseudo_terminal> open_pseudo_terminal(uid_t user, terminal_size size) {
  unique_fd side(::open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK));
  if (!side) return system_failure(errno, "open a pseudo-terminal");
  std::array<char, 64> path{};
  const int code = ::ptsname_r(side.get(), path.data(), path.size());
  if (code != 0) return system_failure(code, "name a pseudo-terminal");
  const bool is_usable = ::unlockpt(side.get()) == 0 &&
                         (user == ::geteuid() || ::chown(path.data(), user, gid_t(-1)) == 0);
  if (!is_usable) return system_failure(errno, "hand a pseudo-terminal to the program's user");
  resize(side.get(), size);
  return pseudo_terminal{.side = std::move(side), .path = path.data()};
}

void resize(int side, terminal_size size) {
  const winsize wanted{.ws_row = size.rows, .ws_col = size.columns, .ws_xpixel = 0, .ws_ypixel = 0};
  ::ioctl(side, TIOCSWINSZ, &wanted);
}

}  // namespace strata::process
