#include "cli/l2/realtime.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include <cerrno>

namespace strata::cli {

namespace {

outcome<> run_on(unsigned cpu) {
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(cpu, &only);
  if (::sched_setaffinity(0, sizeof only, &only) == 0) return {};
  return refuse(exit_failed, system_error(errno, fmt::format("run on CPU {}", cpu),
                                          "`nproc` and `taskset -p $$` show the CPUs that this "
                                          "process can use"));
}

outcome<> run_fifo(int priority) {
  const sched_param how{.sched_priority = priority};
  if (::sched_setscheduler(0, SCHED_FIFO, &how) == 0) return {};
  return refuse(exit_failed,
                system_error(errno, fmt::format("run with SCHED_FIFO at priority {}", priority),
                             "run it as root, grant it CAP_SYS_NICE, or raise the limit "
                             "(ulimit -r)"));
}

outcome<> lock_memory() {
  if (::mlockall(MCL_CURRENT | MCL_FUTURE) == 0) return {};
  return refuse(exit_failed,
                system_error(errno, "lock the process's memory",
                             "run it as root, grant it CAP_IPC_LOCK, or raise the limit "
                             "(ulimit -l)"));
}

}  // namespace

outcome<> become_realtime(const invocation& call) {
  // Otherwise a timer of an ordinary thread may be 50 us late.
  ::prctl(PR_SET_TIMERSLACK, 1UL);
  if (call.flags.contains("cpu")) {
    if (auto done = run_on(call.flags.value("cpu", 0U)); !done) return done;
  }
  if (call.is_set("mlock")) {
    if (auto done = lock_memory(); !done) return done;
  }
  if (call.flags.contains("fifo")) return run_fifo(call.flags.value("fifo", 1));
  return {};
}

}  // namespace strata::cli
