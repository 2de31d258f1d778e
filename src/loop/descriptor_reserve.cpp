#include "loop/descriptor_reserve.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <climits>

namespace strata::loop {

int first_kept_descriptor() {
  static const int first = [] {
    constexpr rlim_t most = 64;
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur > INT_MAX) return INT_MAX;
    return static_cast<int>(limit.rlim_cur - std::min(most, limit.rlim_cur / 4));
  }();
  return first;
}

error no_descriptor_left(std::string operation) {
  return {.code = errc::limit_exceeded,
          .operation = std::move(operation),
          .reason = "the last descriptors are kept for the operator",
          .remedy =
              "raise the limit of open files (ulimit -n, LimitNOFILE= of a systemd unit), or "
              "set --max-connections",
          .offset = {}};
}

}  // namespace strata::loop
