#include "proto/framing.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace strata::proto {
namespace {

struct outcome {
  std::vector<std::string> messages;
  result<void> ended;
};

outcome read(frame_reader& reader, std::string_view input) {
  outcome got;
  got.ended = reader.feed(as_bytes(input),
                          [&](byte_span message) { got.messages.emplace_back(as_text(message)); });
  return got;
}

std::string framed(framing framing, std::string_view message) {
  const auto around = envelope_for(framing, message.size());
  std::string text(as_text(around.head()));
  text += message;
  text += around.after;
  return text;
}

TEST(framing, lines_keep_their_carriage_return_and_may_be_empty) {
  frame_reader reader(framing::line, 100);
  EXPECT_EQ(read(reader, "a\r\n\nbc").messages, (std::vector<std::string>{"a\r", ""}));
  EXPECT_EQ(as_text(reader.unfinished()), "bc");
  EXPECT_EQ(read(reader, "d\n").messages, (std::vector<std::string>{"bcd"}));
}

TEST(framing, every_cut_of_a_stream_gives_the_same_messages) {
  for (const auto how : {framing::line, framing::length}) {
    const std::vector<std::string> messages = {"first", "", "third \x01\xff", "4"};
    std::string stream;
    for (const auto& each : messages) stream += framed(how, each);
    for (std::size_t cut = 0; cut <= stream.size(); ++cut) {
      frame_reader reader(how, 100);
      auto got = read(reader, std::string_view(stream).substr(0, cut)).messages;
      const auto rest = read(reader, std::string_view(stream).substr(cut)).messages;
      got.insert(got.end(), rest.begin(), rest.end());
      EXPECT_EQ(got, messages) << "cut at " << cut;
    }
  }
}

TEST(framing, a_message_longer_than_the_limit_is_an_error_that_names_the_limit) {
  frame_reader lines(framing::line, 4);
  EXPECT_TRUE(read(lines, "1234\n").ended);
  const auto refused = read(lines, "12345\n");
  ASSERT_FALSE(refused.ended);
  EXPECT_EQ(refused.ended.error().code, errc::limit_exceeded);
  EXPECT_NE(describe(refused.ended.error()).find("4 bytes"), std::string::npos);

  frame_reader unended(framing::line, 4);
  EXPECT_FALSE(read(unended, "12345").ended) << "without waiting for the end of the line";

  frame_reader lengths(framing::length, 4);
  EXPECT_FALSE(read(lengths, std::string("\xff\xff\xff\xff", 4)).ended);
}

TEST(framing, raw_gives_reads_as_they_come) {
  frame_reader reader(framing::raw, 3);
  EXPECT_EQ(read(reader, "abcde").messages, (std::vector<std::string>{"abc", "de"}));
}

}  // namespace
}  // namespace strata::proto
