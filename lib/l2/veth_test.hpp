// A network namespace of a test's own:
//
//     vethA <==========> vethB        lo
//
// Both ends are in it, and it is removed with the test. Needs root.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "strata/base/unique_fd.hpp"

namespace strata::l2 {

inline void run_command(const std::string& line) {
  ASSERT_EQ(std::system(line.c_str()), 0) << line;  // NOLINT(bugprone-command-processor)
}

class veth_test : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "NEEDS ROOT: it makes a network namespace";
    before_.reset(::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC));
    ASSERT_EQ(::unshare(CLONE_NEWNET), 0);
    run_command("ip link add vethA type veth peer name vethB");
    // No IPv6: its neighbor discovery would add frames.
    run_command("sysctl -qw net.ipv6.conf.vethA.disable_ipv6=1 net.ipv6.conf.vethB.disable_ipv6=1");
    run_command("ip link set vethA up; ip link set vethB up; ip link set lo up");
    // The kernel attaches their queueing discipline a little later: until then, it silently drops
    // sent frames.
    run_command(
        "while (ip link show vethA; ip link show vethB) | grep -q 'qdisc noop '; do sleep 0.01; "
        "done");
  }
  void TearDown() override {
    if (before_) ::setns(before_.get(), CLONE_NEWNET);
  }

 private:
  unique_fd before_;
};

}  // namespace strata::l2
