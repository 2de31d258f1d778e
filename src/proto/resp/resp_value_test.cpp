#include "proto/resp/resp_value.hpp"

#include <gtest/gtest.h>

#include "proto/resp/resp_reply.hpp"

namespace strata::proto {
namespace {

using kind = resp_value::kind;

resp_value text(kind kind, std::string text) { return {.what = kind, .text = std::move(text)}; }
resp_value bulk(std::string of) { return text(kind::bulk, std::move(of)); }
resp_value integer(std::int64_t of) { return {.what = kind::integer, .integer = of}; }
resp_value many(kind kind, std::vector<resp_value> values) {
  return {.what = kind, .elements = std::move(values)};
}

// Returns all replies in `bytes`, fed in parts of `part` bytes; an error comes last.
std::vector<resp_value> read_all(std::string_view bytes, std::size_t part,
                                 const value_limits& limits = {}) {
  value_reader reader(limits);
  std::vector<resp_value> found;
  while (!bytes.empty()) {
    const auto some = bytes.substr(0, part);
    bytes.remove_prefix(some.size());
    reader.feed(as_bytes(some));
    for (;;) {
      auto next = reader.next();
      if (!next) {
        found.push_back(text(kind::error, next.error().reason));
        return found;
      }
      if (!*next) break;
      found.push_back(std::move(**next));
    }
  }
  return found;
}

void expect_values(std::string_view bytes, const std::vector<resp_value>& values) {
  for (std::size_t part = 1; part <= bytes.size(); ++part) {
    EXPECT_EQ(read_all(bytes, part), values) << "in parts of " << part;
  }
}

TEST(value_reader, reads_what_stands_on_a_line) {
  expect_values(
      "+OK\r\n-ERR no\r\n:-12\r\n_\r\n#t\r\n#f\r\n,2.5\r\n,-inf\r\n,nan\r\n(123456789012345\r\n",
      {text(kind::status, "OK"),
       text(kind::error, "ERR no"),
       integer(-12),
       {},
       {.what = kind::boolean, .integer = 1},
       {.what = kind::boolean},
       text(kind::real, "2.5"),
       text(kind::real, "-inf"),
       text(kind::real, "nan"),
       text(kind::big_number, "123456789012345")});
}

TEST(value_reader, reads_strings_of_any_bytes) {
  expect_values(
      std::string_view("$4\r\n\r\n\0$\r\n$0\r\n\r\n$-1\r\n=8\r\ntxt:a\r\nb\r\n!5\r\nERR x\r\n", 47),
      {bulk(std::string("\r\n\0$", 4)),
       bulk(""),
       {},
       text(kind::verbatim, "a\r\nb"),
       text(kind::error, "ERR x")});
}

TEST(value_reader, reads_aggregates_within_aggregates) {
  expect_values(
      "*2\r\n%1\r\n+k\r\n~2\r\n:1\r\n:2\r\n*0\r\n>2\r\n+a\r\n*-1\r\n%0\r\n",
      {many(kind::array,
            {many(kind::map, {text(kind::status, "k"), many(kind::set, {integer(1), integer(2)})}),
             many(kind::array, {})}),
       many(kind::push, {text(kind::status, "a"), {}}), many(kind::map, {})});
}

TEST(value_reader, reads_over_attributes) {
  expect_values("|1\r\n+ttl\r\n*1\r\n:3\r\n*2\r\n:1\r\n|0\r\n:2\r\n",
                {many(kind::array, {integer(1), integer(2)})});
}

TEST(value_reader, reads_what_the_writer_writes) {
  class kept final : public reply_writer {
   public:
    std::string_view written() {
      return {memory_.data(), static_cast<std::size_t>(at_ - memory_.data())};
    }

   private:
    void grow(std::size_t size) override {
      const auto used = static_cast<std::size_t>(at_ == nullptr ? 0 : at_ - memory_.data());
      memory_.resize(used + size + 100);
      at_ = memory_.data() + used;
      end_ = memory_.data() + memory_.size();
    }
    std::string memory_;
  } writer;
  writer.speak(3);
  writer.map(1);
  writer.bulk("key");
  writer.array(4);
  writer.real(0.1);
  writer.boolean(true);
  writer.null();
  writer.verbatim("txt", "words");
  expect_values(
      writer.written(),
      {many(kind::map, {bulk("key"), many(kind::array, {text(kind::real, "0.10000000000000001"),
                                                        {.what = kind::boolean, .integer = 1},
                                                        {},
                                                        text(kind::verbatim, "words")})})});
}

TEST(value_reader, refuses_what_is_not_the_protocol) {
  for (const std::string_view bytes :
       {"\r\n", "x\r\n", ":1x\r\n", ":\r\n", "$x\r\n", "$-2\r\n", "=-1\r\n", "$1\r\nab\r\n",
        "#x\r\n", ",1,2\r\n", "(1.5\r\n", "*-2\r\n", "%-1\r\n", "*?\r\n", "$?\r\n", "=3\r\nabc\r\n",
        "_x\r\n", ":99999999999999999999\r\n", "HTTP/1.1 400\r\n"}) {
    for (std::size_t part = 1; part <= bytes.size(); ++part) {
      const auto found = read_all(bytes, part);
      ASSERT_EQ(found.size(), 1U) << bytes;
      EXPECT_EQ(found[0].what, kind::error) << bytes;
    }
  }
}

TEST(value_reader, says_the_same_once_it_is_broken) {
  value_reader reader;
  reader.feed(as_bytes("+fine\r\n?\r\n"));
  EXPECT_TRUE(reader.next()->has_value());
  const auto first = reader.next();
  ASSERT_FALSE(first);
  EXPECT_EQ(first.error().offset, 7U);
  reader.feed(as_bytes("+OK\r\n"));
  EXPECT_FALSE(reader.next());
}

TEST(value_reader, keeps_to_its_limits) {
  const value_limits narrow{.max_depth = 2, .max_bulk = 10, .max_values = 4, .max_reply = 40};
  const auto why = [&](std::string_view bytes) {
    return read_all(bytes, bytes.size(), narrow).back().text;
  };
  EXPECT_EQ(why("*1\r\n*1\r\n*1\r\n"), "its values are nested deeper than 2");
  EXPECT_EQ(why("$11\r\n"), "a string is longer than 10 bytes");
  EXPECT_EQ(why("*5\r\n"), "it has more than 4 values");
  EXPECT_EQ(why("%3\r\n:1\r\n:1\r\n:1\r\n:1\r\n"), "it has more than 4 values");
  EXPECT_EQ(why("*3\r\n$10\r\n0123456789\r\n$10\r\n0123456789\r\n$10\r\n"),
            "it is longer than 40 bytes");
  EXPECT_EQ(why("+01234567890123"), "a line is longer than 10 bytes");
  // The limit applies to each reply.
  EXPECT_EQ(read_all("*3\r\n:1\r\n:2\r\n:3\r\n*3\r\n:1\r\n:2\r\n:3\r\n", 7, narrow).size(), 2U);
}

TEST(value_reader, takes_no_memory_for_a_count_alone) {
  value_reader reader;
  reader.feed(as_bytes("*16000000\r\n%8000000\r\n"));
  EXPECT_FALSE(reader.next()->has_value());
}

TEST(value_reader, reads_a_long_reply_that_comes_byte_by_byte) {
  std::string bytes = "*20000\r\n";
  for (int i = 0; i < 20000; ++i) bytes += "$5\r\nvalue\r\n";
  const auto found = read_all(bytes, 1);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].elements.size(), 20000U);
}

}  // namespace
}  // namespace strata::proto
