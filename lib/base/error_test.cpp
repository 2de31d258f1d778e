#include "strata/base/error.hpp"

#include <gtest/gtest.h>

#include <cerrno>

namespace strata {
namespace {

TEST(error, a_caller_says_what_to_do) {
  EXPECT_EQ(describe(system_error(EACCES, "bind tcp://0.0.0.0:80", "use a port from 1024")),
            "cannot bind tcp://0.0.0.0:80: Permission denied; use a port from 1024");
}

TEST(error, without_a_reason_the_code_is_told_in_words) {
  EXPECT_EQ(describe({.code = errc::invalid_argument,
                      .operation = "use 5 VLAN tags",
                      .reason = {},
                      .remedy = "use at most 4",
                      .offset = {}}),
            "cannot use 5 VLAN tags: it is not valid; use at most 4");
}

TEST(error, too_many_open_files_have_one_remedy_whatever_the_caller_guessed) {
  EXPECT_EQ(describe(system_error(EMFILE, "set up io_uring", "it needs Linux 6.1")),
            "cannot set up io_uring: Too many open files; raise the limit of open files (ulimit "
            "-n)");
  EXPECT_EQ(system_error(ENFILE, "open a socket").remedy,
            "raise the machine's limit of open files (sysctl fs.file-max)");
  EXPECT_EQ(system_error(EMFILE, "open a socket").code, errc::limit_exceeded);
}

}  // namespace
}  // namespace strata
