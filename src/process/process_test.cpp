#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

#include "process/pipe.hpp"
#include "process/program.hpp"
#include "process/program_output.hpp"

namespace strata::process {
namespace {

bool is_alive(pid_t id) { return ::kill(id, 0) == 0; }

TEST(child, the_exit_code_is_what_its_work_gives) {
  auto started = child::run([] { return 7; });
  ASSERT_TRUE(started);
  EXPECT_NE(started->id(), 0);
  const auto ended = started->wait();
  EXPECT_EQ(ended.exit_code, 7);
  EXPECT_EQ(ended.text(), "exit code 7");
  EXPECT_FALSE(ended.is_success());
  EXPECT_FALSE(*started);
}

TEST(child, one_that_is_not_waited_for_ends_with_its_owner) {
  pid_t id = 0;
  {
    auto started = child::run([] {
      ::pause();
      return 0;
    });
    ASSERT_TRUE(started);
    id = started->id();
    EXPECT_TRUE(is_alive(id));
  }
  EXPECT_FALSE(is_alive(id));
}

TEST(child, a_new_owner_ends_the_process_that_it_had) {
  const auto sleeper = [] {
    ::pause();
    return 0;
  };
  auto first = child::run(sleeper);
  auto second = child::run(sleeper);
  ASSERT_TRUE(first && second);
  const auto id = first->id();
  const auto other = second->id();
  *first = std::move(*second);
  EXPECT_FALSE(is_alive(id));
  EXPECT_TRUE(is_alive(other));
  EXPECT_EQ(first->id(), other);
}

TEST(child, an_end_by_a_signal_says_which) {
  auto started = child::run([] {
    ::pause();
    return 0;
  });
  ASSERT_TRUE(started);
  ::kill(started->id(), SIGTERM);
  const auto ended = started->wait();
  EXPECT_EQ(ended.signal, SIGTERM);
  EXPECT_EQ(ended.text(), "signal 15");
  EXPECT_FALSE(ended.is_success());
}

TEST(child, one_that_is_bound_ends_with_its_parent) {
  auto pipe = make_pipe();
  ASSERT_TRUE(pipe);
  auto parent = child::run([&] {
    auto bound = child::run(
        [&] {
          (void)write_all(pipe->write.get(), std::to_string(::getpid()) + "\n");
          ::pause();
          return 0;
        },
        bond::dies_with_parent);
    ::pause();
    return bound ? 0 : 1;
  });
  ASSERT_TRUE(parent);
  pipe->write.reset();
  char letter = 0;
  ASSERT_EQ(::read(pipe->read.get(), &letter, 1), 1);
  parent->kill();
  // The pipe ends when the last process that could write to it has ended.
  EXPECT_NE(read_all(pipe->read.get()).find('\n'), std::string::npos);
}

TEST(program, its_descriptors_are_those_that_it_is_given) {
  auto in = make_pipe();
  auto out = make_pipe();
  ASSERT_TRUE(in && out);
  auto started = start({.words = {"cat"}, .input = in->read.get(), .output = out->write.get()});
  ASSERT_TRUE(started);
  in->read.reset();
  out->write.reset();
  EXPECT_TRUE(write_all(in->write.get(), "through"));
  in->write.reset();
  EXPECT_EQ(read_all(out->read.get()), "through");
  EXPECT_TRUE(started->wait().is_success());
}

TEST(program, descriptors_are_handed_over_in_their_order) {
  auto first = make_pipe();
  auto second = make_pipe();
  ASSERT_TRUE(first && second);
  // Each lies where another one is to be put.
  const unique_fd low_first(::fcntl(first->write.get(), F_DUPFD_CLOEXEC, 3));
  auto started = start({.words = {"sh", "-c", "echo one >&3; echo two >&5"},
                        .handed_over = {second->write.get(), -1, low_first.get()}});
  ASSERT_TRUE(started);
  EXPECT_TRUE(started->wait().is_success());
  second->write.reset();
  EXPECT_EQ(read_all(second->read.get()), "one\n");
  char letter = 0;
  EXPECT_EQ(::read(first->read.get(), &letter, 1), 1);
  EXPECT_EQ(letter, 't');
}

TEST(program, signals_do_in_it_what_they_usually_do) {
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  static constexpr int signals[] = {SIGPIPE};
  auto started = start({.words = {"sh", "-c", "kill -PIPE $$; exit 3"}, .usual_signals = signals});
  ASSERT_TRUE(started);
  EXPECT_EQ(started->wait().signal, SIGPIPE);
  auto ignoring = start({.words = {"sh", "-c", "kill -PIPE $$; exit 3"}});
  ASSERT_TRUE(ignoring);
  EXPECT_EQ(ignoring->wait().exit_code, 3);
  std::signal(SIGPIPE, before);
}

TEST(program, one_that_is_not_there_is_not_found) {
  const auto started = start({.words = {"/no/such/program", "word"}});
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code, errc::not_found);
  EXPECT_NE(describe(started.error()).find("/no/such/program"), std::string::npos);
}

TEST(program_output, is_what_it_prints) {
  EXPECT_EQ(output_of({"printf", "%s|%s", "a b", "$c"}).value_or("none"), "a b|$c");
  const auto long_one = output_of({"head", "-c", "300000", "/dev/zero"});
  ASSERT_TRUE(long_one);
  EXPECT_EQ(long_one->size(), 300'000U);
}

TEST(program_output, a_program_that_fails_says_how_it_ended) {
  const auto failed = output_of({"sh", "-c", "echo half; exit 9"});
  ASSERT_FALSE(failed);
  EXPECT_NE(describe(failed.error()).find("exit code 9"), std::string::npos);
  const auto ended = output_of({"sh", "-c", "kill -KILL $$"});
  ASSERT_FALSE(ended);
  EXPECT_NE(describe(ended.error()).find("signal 9"), std::string::npos);
}

}  // namespace
}  // namespace strata::process
