// A child process with an owner. Use it from one thread at a time.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>

#include "strata/base/result.hpp"

namespace strata::process {

/// How a process has ended.
struct ending {
  int exit_code = 0;
  int signal = 0;  ///< the signal that ended it; 0: it exited by itself

  [[nodiscard]] bool is_success() const { return signal == 0 && exit_code == 0; }
  /// `exit code 3` or `signal 9`.
  [[nodiscard]] std::string text() const;
};

enum class bond : std::uint8_t {
  none,
  dies_with_parent,  ///< the kernel kills it when the thread that made it ends
};

class child {
 public:
  /// No process.
  child() = default;
  /// Owns the process with this id, a child of this one.
  explicit child(pid_t id) : id_(id) {}
  child(child&& other) noexcept;
  child& operator=(child&& other) noexcept;
  child(const child&) = delete;
  child& operator=(const child&) = delete;
  /// Kills it, unless it has been waited for.
  ~child() { kill(); }

  /// Copies this process, which must have one thread (fork(2)). Returns nullopt in the copy.
  /// Errors: the system has no room for another process.
  [[nodiscard]] static result<std::optional<child>> copy();
  /// Runs `work` in a copy of this process, which exits with its result. Errors: as above.
  [[nodiscard]] static result<child> run(const std::function<int()>& work, bond bond = bond::none);

  [[nodiscard]] explicit operator bool() const { return id_ != 0; }
  [[nodiscard]] pid_t id() const { return id_; }
  /// Waits until it has ended; then the object holds no process.
  ending wait();
  /// Kills it (SIGKILL), and waits for its end.
  void kill();
  /// Gives the process up: it outlives the object, and nobody waits for it.
  void release() { id_ = 0; }

 private:
  pid_t id_ = 0;
};

}  // namespace strata::process
