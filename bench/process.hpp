// CPU time of a process, all its threads, in nanoseconds.
#pragma once

#include <cstdint>

namespace strata::bench {

class cpu_meter {
 public:
  // pid 0 measures nothing and reads 0.
  explicit cpu_meter(std::uint64_t pid) : pid_(pid) {}

  void start() { started_ = read(); }
  std::uint64_t elapsed_ns() const { return read() - started_; }

 private:
  std::uint64_t read() const;

  std::uint64_t pid_;
  std::uint64_t started_ = 0;
};

}  // namespace strata::bench
