// A later daemon that this one starts itself: the program as it lies on the disk by now, with the
// same command line and --takeover.
//
// For the home loop.
#pragma once

#include "loop/loop.hpp"
#include "process/child.hpp"

namespace strata::daemon::takeover {

/// How this process was started. Read it before anything can change.
struct own_command {
  std::string program = {};             ///< path of the file
  std::vector<std::string> words = {};  ///< as given, the program's name first

  /// Without words if /proc does not say it.
  [[nodiscard]] static own_command read();
};

/// Whether an earlier daemon has started this process. Asked again, it says no.
[[nodiscard]] bool is_started_by_predecessor();

class successor {
 public:
  successor(loop::loop& loop, own_command command) : loop_(loop), command_(std::move(command)) {}
  ~successor() { release(); }
  successor(const successor&) = delete;
  successor& operator=(const successor&) = delete;

  /// Starts it, and waits until it is ready; if it ends before, that is logged. Does nothing if one
  /// is being started already.
  loop::task<> run();
  /// It runs on by itself.
  void release() { process_.release(); }

 private:
  loop::loop& loop_;
  own_command command_;
  process::child process_;
};

}  // namespace strata::daemon::takeover
