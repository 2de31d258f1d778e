#include "runtime/program/kept_process.hpp"

#include <gtest/gtest.h>

namespace strata::runtime::program {
namespace {

// Another value would restart every program at an upgrade of the daemon.
TEST(fingerprint, is_the_same_in_every_version) {
  program_options options;
  options.command = "./server --port {port}";
  options.env = {"MODE=fast"};
  options.port = 9000;
  EXPECT_EQ(fingerprint_of(options), "9d640202318c3477");
}

TEST(fingerprint, depends_on_what_a_start_depends_on) {
  program_options options;
  options.command = "sleep 1";
  const auto before = fingerprint_of(options);
  options.grace = 99;
  options.ready = "line:up";
  options.instances = 7;
  EXPECT_EQ(fingerprint_of(options), before);
  options.port = 0;
  const auto with_port = fingerprint_of(options);
  EXPECT_NE(with_port, before);
  options.env = {"A=1"};
  EXPECT_NE(fingerprint_of(options), with_port);
}

}  // namespace
}  // namespace strata::runtime::program
