// A child process that somebody owns. One thread at a time.
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
  int signal = 0;  ///< that ended it; 0: it ended by itself

  [[nodiscard]] bool is_success() const { return signal == 0 && exit_code == 0; }
  /// `exit code 3`, `signal 9`.
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
  /// Owns the process with this id, which is a child of this one.
  explicit child(pid_t id) : id_(id) {}
  child(child&& other) noexcept;
  child& operator=(child&& other) noexcept;
  child(const child&) = delete;
  child& operator=(const child&) = delete;
  /// Kills it, unless it has been waited for.
  ~child() { kill(); }

  /// Copies this process, which has one thread (fork(2)). Nothing in the copy. Errors: the system
  /// has no room for another process.
  [[nodiscard]] static result<std::optional<child>> copy();
  /// Runs `work` in a copy of this process, whose exit code is what `work` gives. Errors: as above.
  [[nodiscard]] static result<child> run(const std::function<int()>& work, bond bond = bond::none);

  [[nodiscard]] explicit operator bool() const { return id_ != 0; }
  [[nodiscard]] pid_t id() const { return id_; }
  /// Waits until it has ended; then it is no process.
  ending wait();
  /// Ends it at once (SIGKILL), and waits for that.
  void kill();

 private:
  pid_t id_ = 0;
};

}  // namespace strata::process
