// How a benchmark program ends when it cannot measure: one JSON object that says why, exit 1.
// A benchmark has nobody to hand an error to, and half a result is worse than none.
#pragma once

#include <fmt/core.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "json_object.hpp"

namespace strata::bench {

[[noreturn]] inline void fail(const std::string& reason) {
  json_object object;
  object.add("error", reason);
  object.print();
  std::exit(1);
}

[[noreturn]] inline void fail_errno(const std::string& operation) {
  const int cause = errno;
  fail(fmt::format("{}: {}", operation, std::strerror(cause)));
}

}  // namespace strata::bench
