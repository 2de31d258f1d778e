#include "proto/resp/resp_request.hpp"

#include <gtest/gtest.h>

#include <random>

namespace strata::proto {
namespace {

using words = std::vector<std::string>;

// Returns all requests in `bytes`, fed in parts of `part` bytes; an error's text comes last.
std::vector<words> read_all(std::string_view bytes, std::size_t part,
                            const request_limits& limits = {}) {
  request_reader reader;
  reader.set_limits(limits);
  std::vector<words> found;
  while (!bytes.empty()) {
    // A temporary copy: views must not outlive it.
    const std::string arrived(bytes.substr(0, part));
    bytes.remove_prefix(arrived.size());
    reader.feed(as_bytes(arrived));
    std::vector<std::string_view> arguments;
    for (;;) {
      arguments.clear();
      const auto outcome = reader.next(arguments);
      if (outcome == request_reader::outcome::broken) {
        found.push_back({reader.error()});
        return found;
      }
      if (outcome == request_reader::outcome::incomplete) break;
      if (!arguments.empty()) found.emplace_back(arguments.begin(), arguments.end());
    }
    reader.keep();
  }
  return found;
}

void expect_requests(std::string_view bytes, const std::vector<words>& words) {
  for (std::size_t part = 1; part <= bytes.size(); ++part) {
    EXPECT_EQ(read_all(bytes, part), words) << "in parts of " << part;
  }
}

TEST(request_reader, reads_arrays_however_they_are_cut) {
  expect_requests("*1\r\n$4\r\nPING\r\n*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$12\r\nabcdefghijkl\r\n",
                  {{"PING"}, {"SET", "k", "abcdefghijkl"}});
}

TEST(request_reader, reads_bytes_of_any_kind_and_empty_ones) {
  expect_requests(std::string_view("*2\r\n$0\r\n\r\n$5\r\n\r\n\0*1\r\n", 22),
                  {{"", std::string("\r\n\0*1", 5)}});
}

TEST(request_reader, skips_empty_arrays) {
  expect_requests("*0\r\n*-1\r\n\r\n*1\r\n$4\r\nPING\r\n", {{"PING"}});
}

TEST(request_reader, reads_lines_with_quotes) {
  expect_requests("set k \"a b\\x41\\n\" 'it\\'s'\r\nPING\n",
                  {{"set", "k", "a bA\n", "it's"}, {"PING"}});
}

TEST(request_reader, reads_more_than_nine_arguments_and_long_ones) {
  std::string bytes = "*11\r\n";
  words wanted;
  for (std::size_t i = 0; i < 11; ++i) {
    const std::string text(i * 37, 'x');
    bytes += "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
    wanted.push_back(text);
  }
  expect_requests(bytes, {wanted});
}

TEST(request_reader, refuses_what_is_not_the_protocol) {
  const auto refuses = [](std::string_view bytes, const std::string& why) {
    expect_requests(bytes, {{why}});
  };
  refuses("*2147483648\r\n", "Protocol error: invalid multibulk length");
  refuses("*9223372036854775808\r\n", "Protocol error: invalid multibulk length");
  refuses("*1\r\n$-2\r\n", "Protocol error: invalid bulk length");
  refuses("*1\r\n$2147483648\r\n", "Protocol error: invalid bulk length");
  refuses("*1\r\n$01\r\n", "Protocol error: invalid bulk length");
  refuses("*1\r\n:1\r\n", "Protocol error: expected '$', got ':'");
  refuses("set k \"a\r\n", "Protocol error: unbalanced quotes in request");
}

TEST(request_reader, has_narrow_limits_for_strangers) {
  const request_limits stranger{.is_stranger = true};
  EXPECT_EQ(read_all("*11\r\n", 5, stranger).back().back(),
            "Protocol error: unauthenticated multibulk length");
  EXPECT_EQ(read_all("*1\r\n$16385\r\n", 12, stranger).back().back(),
            "Protocol error: unauthenticated bulk length");
}

TEST(request_reader, keeps_no_more_than_its_limit) {
  request_reader reader;
  reader.set_limits({.max_buffer = 10'000});
  const std::string head = "*2\r\n$1000000\r\n";
  reader.feed(as_bytes(head));
  std::vector<std::string_view> arguments;
  ASSERT_EQ(reader.next(arguments), request_reader::outcome::incomplete);
  reader.keep();
  const std::string part(1000, 'x');
  for (int i = 0; i < 20; ++i) {
    reader.feed(as_bytes(part));
    if (reader.next(arguments) == request_reader::outcome::broken) return;
    ASSERT_LT(reader.held(), 12'000U);
    reader.keep();
  }
  FAIL() << "it kept " << reader.held() << " bytes";
}

TEST(request_reader, keeps_no_room_behind_a_large_request) {
  request_reader reader;
  const std::string head = "*1\r\n$10000000\r\n";
  const std::string part(5'000'000, 'x');
  const std::string end = "\r\n*1\r\n$4\r\n";
  std::vector<std::string_view> arguments;
  for (const auto& bytes : {head, part, part, end}) {
    reader.feed(as_bytes(bytes));
    arguments.clear();
    (void)reader.next(arguments);
    if (!arguments.empty()) {
      EXPECT_EQ(arguments.front().size(), 10'000'000U);
      EXPECT_EQ(reader.next(arguments), request_reader::outcome::incomplete);
    }
    reader.keep();
  }
  EXPECT_LT(reader.room(), 64U << 10U);
  arguments.clear();
  reader.feed(as_bytes(std::string_view("PING\r\n")));
  EXPECT_EQ(reader.next(arguments), request_reader::outcome::request);
  EXPECT_EQ(arguments, std::vector<std::string_view>{"PING"});
  EXPECT_EQ(reader.next(arguments), request_reader::outcome::incomplete);
  reader.keep();
  EXPECT_EQ(reader.held(), 0U);
  EXPECT_LT(reader.room(), 64U << 10U);
}

TEST(request_reader, reads_what_is_written) {
  const std::string_view bytes("\0\r\n$1", 5);
  const std::string_view all[] = {"SET", "", bytes};
  std::string text;
  append_command(text, all);
  EXPECT_EQ(text, std::string("*3\r\n$3\r\nSET\r\n$0\r\n\r\n$5\r\n\0\r\n$1\r\n", 30));
  EXPECT_EQ(read_all(text, 3), (std::vector<words>{{"SET", "", std::string(bytes)}}));
}

TEST(request_reader, goes_back) {
  request_reader reader;
  const std::string bytes = "*1\r\n$1\r\na\r\n*1\r\n$1\r\nb\r\n*2\r\n$1\r\nc\r\n";
  reader.feed(as_bytes(bytes));
  std::vector<std::string_view> arguments;
  ASSERT_EQ(reader.next(arguments), request_reader::outcome::request);
  const auto second = reader.position();
  ASSERT_EQ(reader.next(arguments), request_reader::outcome::request);
  ASSERT_EQ(reader.next(arguments), request_reader::outcome::incomplete);
  reader.go_back(second);
  reader.keep();
  arguments.clear();
  ASSERT_EQ(reader.next(arguments), request_reader::outcome::request);
  EXPECT_EQ(arguments, std::vector<std::string_view>{"b"});
  EXPECT_EQ(reader.next(arguments), request_reader::outcome::incomplete);
}

}  // namespace
}  // namespace strata::proto
