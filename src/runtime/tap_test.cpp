#include "runtime/tap.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "loop/backends/sim_loop.hpp"
#include "loop/backends/sim_world.hpp"

namespace strata::runtime {

namespace {

class tap_test : public testing::Test {
 protected:
  tap::following follow() {
    return tap_.follow(
        loop_,
        {.on_line = [this](const tapped& line) { lines_.push_back(line.bytes); },
         .on_loss =
             [this](std::size_t count) { lines_.push_back("lost " + std::to_string(count)); },
         .on_end = [this] { lines_.emplace_back("end"); }});
  }
  void write(std::string_view bytes) {
    tap_.write(tapped_form::message, false, {.client = 5, .sender = "#5", .receiver = "s"},
               as_bytes(bytes));
  }
  void run() { world_.run_for(std::chrono::milliseconds(1)); }

  loop::sim_world world_{1};
  loop::sim_loop& loop_ = world_.add_loop();
  tap tap_;
  std::vector<std::string> lines_;
};

}  // namespace

TEST_F(tap_test, is_open_while_somebody_reads) {
  EXPECT_FALSE(tap_.is_open());
  {
    const auto reading = follow();
    EXPECT_TRUE(tap_.is_open());
  }
  EXPECT_FALSE(tap_.is_open());
}

TEST_F(tap_test, a_reader_receives_in_order_until_it_goes) {
  {
    const auto reading = follow();
    write("one");
    write("two");
    run();
    write("never read");
  }
  run();
  EXPECT_EQ(lines_, (std::vector<std::string>{"one", "two"}));
}

TEST_F(tap_test, a_reader_is_told_of_the_end_behind_all_lines) {
  const auto reading = follow();
  write("one");
  tap_.end();
  run();
  EXPECT_EQ(lines_, (std::vector<std::string>{"one", "end"}));
}

TEST_F(tap_test, a_reader_that_is_behind_is_told_where_how_many_lines_are_missing) {
  const auto reading = follow();
  const std::string large(tap::most_bytes, 'x');
  constexpr std::size_t written = 1000;
  for (std::size_t i = 0; i < written; ++i) write(large);
  run();
  const auto received = lines_.size() - 1;
  EXPECT_GT(received, 100U);
  EXPECT_EQ(lines_.back(), "lost " + std::to_string(written - received));
  write("next");
  run();
  EXPECT_EQ(lines_.back(), "next");
}

TEST_F(tap_test, of_a_long_message_the_first_bytes_are_shown_and_its_size) {
  nlohmann::json shown;
  const auto reading = tap_.follow(loop_, {.on_line = [&](const tapped& line) {
                                     shown = nlohmann::json::parse(json_of(line, 4));
                                   }});
  write(std::string(tap::most_bytes + 1, 'x'));
  run();
  EXPECT_EQ(shown["text"], "xxxx");
  EXPECT_EQ(shown["size"], tap::most_bytes + 1);
  EXPECT_EQ(shown["from"], "#5");
  EXPECT_EQ(shown["direction"], "in");
}

TEST(tap_filter, takes_a_client_at_either_end_and_a_text_anywhere) {
  const tapped line{.ends = {.client = 7, .sender = "#5", .receiver = "#7"},
                    .bytes = "hello there"};
  EXPECT_TRUE((tap_filter{}).takes(line));
  EXPECT_TRUE((tap_filter{.client = 5}).takes(line));
  EXPECT_TRUE((tap_filter{.client = 7, .match = "lo th"}).takes(line));
  EXPECT_FALSE((tap_filter{.client = 6}).takes(line));
  EXPECT_FALSE((tap_filter{.client = 5, .match = "nowhere"}).takes(line));
}

}  // namespace strata::runtime
