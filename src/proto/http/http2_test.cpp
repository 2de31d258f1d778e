// Tests an HTTP/2 session against a libnghttp2 client, and against handmade frames.
#include <gtest/gtest.h>

#include <list>

#include "proto/http/http2_test_peer.hpp"

namespace strata::proto {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t calm = 11;

/// Answers nothing by itself; records what arrives.
class http2_stage : private http2_listener {
 public:
  explicit http2_stage(http2_limits limits = {}) : session(*this, limits) {}

  struct served final : http2_stream {
    explicit served(arrival&& arrival) : come(std::move(arrival)), is_whole(come.is_whole) {}
    void on_body(byte_span bytes) override { body += as_text(bytes); }
    void on_end() override { is_whole = true; }
    void on_close() override { is_closed = true; }
    [[nodiscard]] supply supplied() const override { return {answer.size(), is_last}; }
    void move_body(std::size_t count) override {
      to->write(as_bytes(std::string_view(answer).substr(0, count)));
      answer.erase(0, count);
    }

    http2_stage* to = nullptr;
    arrival come;
    std::string body;
    std::string answer;
    bool is_last = true;
    bool is_whole;
    bool is_closed = false;
  };

  /// Runs until neither side has any more output.
  result<void> run(http2_test_peer& client) {
    for (;;) {
      const auto said = client.take();
      const auto taken = said.empty() ? result<void>() : session.feed(as_bytes(said), now);
      output.clear();
      session.give_output(SIZE_MAX);
      EXPECT_TRUE(client.feed(output));
      if (!taken) return taken;
      if (said.empty() && output.empty()) return {};
    }
  }
  result<void> feed(std::string_view bytes) { return session.feed(as_bytes(bytes), now); }
  void answer(served& served, int status, const http_fields& fields, std::string body,
              std::optional<std::uint64_t> length = {}) {
    served.answer = std::move(body);
    session.answer(served.come.stream, {.status = status,
                                        .fields = fields,
                                        .date = {},
                                        .length = length,
                                        .has_body = !served.answer.empty()});
  }

  http2_session::time_point now{1000s};
  std::list<served> streams;
  std::string output;
  http2_session session;

 private:
  http2_stream* on_request(arrival&& come) override {
    auto& made = streams.emplace_back(std::move(come));
    made.to = this;
    return &made;
  }
  void write(byte_span bytes) override { output += as_text(bytes); }
};

/// Feeds the results of `count` calls of `make`; returns the result of the last, or the first that
/// fails.
template <class Make>
result<void> feed_many(http2_stage& stage, int count, Make make) {
  for (int i = 0; i < count; ++i) {
    if (auto taken = stage.feed(make(i)); !taken) return taken;
    stage.session.give_output(SIZE_MAX);
  }
  return {};
}

// Checks the GOAWAY at the end of the stage's output.
void expect_calmed(http2_stage& stage, const result<void>& outcome) {
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, errc::limit_exceeded);
  EXPECT_TRUE(stage.session.was_flooded());
  stage.session.give_output(SIZE_MAX);
  ASSERT_GE(stage.output.size(), 17U);
  const auto farewell = stage.output.substr(stage.output.size() - 17);
  EXPECT_EQ(farewell[3], NGHTTP2_GOAWAY);
  EXPECT_EQ(farewell[16], static_cast<char>(calm));
  EXPECT_TRUE(stage.session.is_over());
}

std::string get_of(std::uint32_t stream) {
  return http2_frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS | NGHTTP2_FLAG_END_STREAM, stream,
                     http2_get_block);
}

TEST(http2, a_request_and_its_answer) {
  http2_stage stage;
  http2_test_peer client;
  const auto id = client.ask("POST", "/a%20b?c=d", {{"x-y", "z"}}, "body");
  ASSERT_TRUE(stage.run(client));
  ASSERT_EQ(stage.streams.size(), 1U);
  auto& got = stage.streams.front();
  EXPECT_EQ(got.come.request.method, "POST");
  EXPECT_EQ(got.come.request.target, "/a%20b?c=d");
  EXPECT_EQ(got.come.request.path, "/a b");
  EXPECT_EQ(got.come.request.query_value("c"), "d");
  EXPECT_EQ(got.come.request.header("host"), "test");
  EXPECT_EQ(got.come.request.header("x-y"), "z");
  EXPECT_EQ(got.come.refusal_status, 0);
  EXPECT_EQ(got.body, "body");
  EXPECT_TRUE(got.is_whole);
  stage.answer(got, 201, {{"Content-Type", "text/plain"}, {"Connection", "close"}}, "done", 4);
  ASSERT_TRUE(stage.run(client));
  auto& reply = client.of(id);
  EXPECT_EQ(reply.status, 201);
  EXPECT_EQ(reply.body, "done");
  EXPECT_TRUE(reply.is_closed);
  const http_fields wanted = {{"content-type", "text/plain"}, {"content-length", "4"}};
  EXPECT_EQ(reply.headers, wanted);
  EXPECT_TRUE(got.is_closed);
}

TEST(http2, cut_into_single_bytes_it_is_the_same) {
  http2_stage stage;
  http2_test_peer client;
  client.ask("POST", "/", {}, "some body");
  for (const char each : client.take()) ASSERT_TRUE(stage.feed({&each, 1}));
  ASSERT_EQ(stage.streams.size(), 1U);
  EXPECT_EQ(stage.streams.front().body, "some body");
  EXPECT_TRUE(stage.streams.front().is_whole);
}

TEST(http2, crumbs_of_a_cookie_become_one) {
  http2_stage stage;
  http2_test_peer client;
  client.ask("GET", "/", {{"cookie", "a=1"}, {"cookie", "b=2"}});
  ASSERT_TRUE(stage.run(client));
  EXPECT_EQ(stage.streams.front().come.request.header("cookie"), "a=1; b=2");
}

TEST(http2, requests_that_are_wrong_are_refused_each_by_itself) {
  http2_stage stage;
  http2_test_peer client;
  const std::vector<std::pair<http_fields, int>> cases = {
      {{{"host", "other"}}, 400},
      {{{":authority", "user@test"}}, 400},
      {{{"host", "TEST"}}, 0},
      {{{"large", std::string(17'000, 'x')}}, 431},
      {{{"fits", std::string(15'000, 'x')}}, 0},
  };
  for (const auto& [fields, status] : cases) client.ask("GET", "/", fields);
  client.ask("GET", "/%zz");
  ASSERT_TRUE(stage.run(client));
  ASSERT_EQ(stage.streams.size(), cases.size() + 1);
  auto got = stage.streams.begin();
  for (const auto& [fields, status] : cases) {
    EXPECT_EQ(got->come.refusal_status, status) << fields.front().first;
    EXPECT_EQ(got->come.refusal.has_value(), status != 0);
    ++got;
  }
  EXPECT_EQ(got->come.refusal_status, 400);
}

TEST(http2, a_body_stops_until_it_is_consumed) {
  http2_stage stage({.stream_window = 10'000, .connection_window = 100'000});
  http2_test_peer client;
  client.ask("POST", "/", {}, std::string(50'000, 'x'));
  ASSERT_TRUE(stage.run(client));
  auto& got = stage.streams.front();
  EXPECT_LE(got.body.size(), 65'535U);  // until the client learns of the window
  std::size_t credited = 0;
  while (!got.is_whole) {
    ASSERT_LT(credited, got.body.size());
    stage.session.consume(got.come.stream, got.body.size() - credited);
    credited = got.body.size();
    ASSERT_TRUE(stage.run(client));
  }
  EXPECT_EQ(got.body.size(), 50'000U);
}

TEST(http2, streams_together_have_a_window_too) {
  http2_stage stage;  // a connection window for 16 streams of 64 KiB
  http2_test_peer client;
  for (int i = 0; i < 50; ++i) client.ask("POST", "/", {}, std::string(60'000, 'x'));
  ASSERT_TRUE(stage.run(client));
  std::size_t all = 0;
  for (const auto& each : stage.streams) all += each.body.size();
  EXPECT_EQ(all, http2_limits{}.connection_window);
}

TEST(http2, an_answer_goes_on_when_there_is_more_of_it) {
  http2_stage stage;
  http2_test_peer client;
  const auto id = client.ask("GET", "/");
  ASSERT_TRUE(stage.run(client));
  auto& got = stage.streams.front();
  got.is_last = false;
  stage.answer(got, 200, {}, "first");
  ASSERT_TRUE(stage.run(client));
  EXPECT_EQ(client.of(id).body, "first");
  EXPECT_FALSE(client.of(id).is_closed);
  got.answer = ", second";
  got.is_last = true;
  stage.session.resume(got.come.stream);
  ASSERT_TRUE(stage.run(client));
  EXPECT_EQ(client.of(id).body, "first, second");
  EXPECT_TRUE(client.of(id).is_closed);
}

TEST(http2, output_comes_in_portions) {
  http2_stage stage;
  http2_test_peer client;
  client.ask("GET", "/");
  client.ask("GET", "/");
  ASSERT_TRUE(stage.run(client));
  for (auto& each : stage.streams) stage.answer(each, 200, {}, std::string(30'000, 'x'));
  stage.output.clear();
  EXPECT_LT(stage.session.give_output(1000), 20'000U);
  EXPECT_TRUE(stage.session.wants_output());
  EXPECT_FALSE(stage.output.empty());
}

TEST(http2, what_is_no_http2_is_malformed) {
  http2_stage stage;
  const auto taken = stage.feed("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, errc::malformed);
  EXPECT_FALSE(stage.session.was_flooded());
  stage.session.give_output(SIZE_MAX);
  EXPECT_TRUE(stage.session.is_over());
}

TEST(http2, frames_of_streams_that_are_closed_are_breaches) {
  const std::string reset(4, '\0');
  const auto priority = http2_frame(NGHTTP2_PRIORITY, 0, 0, std::string("\0\0\0\0\1", 5));
  const auto taken_back = get_of(1) + http2_frame(NGHTTP2_RST_STREAM, 0, 1, reset);
  struct row {
    const char* what;
    std::string frames;
    int code;
  };
  for (const auto& row : std::initializer_list<row>{
           {"PRIORITY on the connection", priority, NGHTTP2_PROTOCOL_ERROR},
           {"a lower stream, never used", get_of(7) + get_of(5), NGHTTP2_PROTOCOL_ERROR},
           {"a lower one than the last that there can be", get_of(INT32_MAX) + get_of(5),
            NGHTTP2_PROTOCOL_ERROR},
           {"HEADERS behind its own reset", taken_back + get_of(1), NGHTTP2_STREAM_CLOSED}}) {
    SCOPED_TRACE(row.what);
    http2_stage stage;
    ASSERT_TRUE(stage.feed(http2_opening()));
    const auto taken = stage.feed(row.frames);
    ASSERT_FALSE(taken);
    EXPECT_EQ(taken.error().code, errc::malformed);
    stage.session.give_output(SIZE_MAX);
    ASSERT_GE(stage.output.size(), 17U);
    const auto farewell = stage.output.substr(stage.output.size() - 17);
    EXPECT_EQ(farewell[3], NGHTTP2_GOAWAY);
    EXPECT_EQ(farewell[16], static_cast<char>(row.code));
  }
}

// Both frames cross the reset of a server that has closed the stream.
TEST(http2, frames_that_were_under_way_when_the_stream_was_reset_are_no_breach) {
  http2_stage stage;
  ASSERT_TRUE(stage.feed(http2_opening()));
  ASSERT_TRUE(
      stage.feed(http2_frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, 1, http2_get_block)));
  stage.session.reset(1, http2_code::cancel);
  stage.session.give_output(SIZE_MAX);
  EXPECT_TRUE(stage.feed(http2_frame(NGHTTP2_DATA, 0, 1, "under way")));
  EXPECT_TRUE(stage.feed(get_of(3)));
  EXPECT_EQ(stage.streams.size(), 2U);
}

TEST(http2, a_head_that_has_begun_is_awaited) {
  http2_stage stage;
  EXPECT_TRUE(stage.session.awaits_head());
  ASSERT_TRUE(stage.feed(http2_opening()));
  EXPECT_FALSE(stage.session.awaits_head());
  const auto head = get_of(1);
  ASSERT_TRUE(stage.feed(head.substr(0, 11)));
  EXPECT_TRUE(stage.session.awaits_head());
  ASSERT_TRUE(stage.feed(head.substr(11)));
  EXPECT_FALSE(stage.session.awaits_head());
}

TEST(http2, streams_taken_back_all_the_time_are_a_flood) {
  http2_stage stage;
  ASSERT_TRUE(stage.feed(http2_opening()));
  const auto taken = feed_many(stage, 600, [](int i) {
    const auto id = static_cast<std::uint32_t>(2 * i + 1);
    return get_of(id) + http2_frame(NGHTTP2_RST_STREAM, 0, id, std::string(4, '\0'));
  });
  EXPECT_EQ(stage.streams.size(), 501U);
  expect_calmed(stage, taken);
}

TEST(http2, streams_taken_back_now_and_then_are_no_flood) {
  http2_stage stage;
  ASSERT_TRUE(stage.feed(http2_opening()));
  const auto taken = feed_many(stage, 3000, [&](int i) {
    const auto id = static_cast<std::uint32_t>(2 * i + 1);
    stage.now += 25ms;
    return get_of(id) + http2_frame(NGHTTP2_RST_STREAM, 0, id, std::string(4, '\0'));
  });
  EXPECT_TRUE(taken);
  for (const auto& each : stage.streams) EXPECT_TRUE(each.is_closed);
}

TEST(http2, streams_that_must_be_reset_are_a_flood) {
  http2_stage stage;
  ASSERT_TRUE(stage.feed(http2_opening()));
  // More body than announced: the server must reset the stream.
  const auto block = std::string(
      "\x83\x87\x84\x41\x01x\x0f\x0d\x01"
      "1",
      10);
  const auto taken = feed_many(stage, 600, [&](int i) {
    const auto id = static_cast<std::uint32_t>(2 * i + 1);
    return http2_frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, id, block) +
           http2_frame(NGHTTP2_DATA, 0, id, "too long");
  });
  expect_calmed(stage, taken);
}

TEST(http2, pings_settings_and_empty_data_are_floods) {
  const auto head = http2_frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, 1, http2_get_block);
  for (const auto& frame : {http2_frame(NGHTTP2_PING, 0, 0, std::string(8, 'x')),
                            http2_frame(NGHTTP2_SETTINGS, 0, 0), http2_frame(NGHTTP2_DATA, 0, 1),
                            http2_frame(NGHTTP2_PRIORITY, 0, 3, std::string("\0\0\0\0\1", 5))}) {
    SCOPED_TRACE(int{frame[3]});
    http2_stage stage;
    ASSERT_TRUE(stage.feed(http2_opening() + head));
    const auto taken = feed_many(stage, 2000, [&](int) { return frame; });
    expect_calmed(stage, taken);
  }
}

TEST(http2, continuations_without_an_end_are_a_flood) {
  http2_stage stage;
  ASSERT_TRUE(stage.feed(http2_opening()));
  ASSERT_TRUE(stage.feed(http2_frame(NGHTTP2_HEADERS, 0, 1, http2_get_block)));
  const auto taken =
      feed_many(stage, 100, [](int) { return http2_frame(NGHTTP2_CONTINUATION, 0, 1); });
  expect_calmed(stage, taken);
}

TEST(http2, a_small_head_that_unpacks_to_a_large_one_is_a_flood) {
  http2_stage stage;
  ASSERT_TRUE(stage.feed(http2_opening()));
  // A field of 3000 bytes enters the table; each further use takes one byte.
  std::string block(http2_get_block);
  block += std::string("\x40\x01y\x7f\xb9\x16", 6) + std::string(3000, 'z');
  block += std::string(40, '\xbe');
  const auto taken = stage.feed(
      http2_frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS | NGHTTP2_FLAG_END_STREAM, 1, block));
  EXPECT_TRUE(stage.streams.empty());
  expect_calmed(stage, taken);
}

TEST(http2, more_streams_than_allowed_are_not_served) {
  http2_stage stage;
  ASSERT_TRUE(stage.feed(http2_opening()));
  for (std::uint32_t i = 0; i < 150; ++i) ASSERT_TRUE(stage.feed(get_of(2 * i + 1)));
  EXPECT_EQ(stage.streams.size(), 100U);
}

TEST(http2, frames_whose_answers_nobody_reads_do_not_pile_up) {
  http2_stage stage;
  ASSERT_TRUE(stage.feed(http2_opening()));
  result<void> taken;
  for (int i = 0; taken && i < 100'000; ++i) {
    stage.now += 20ms;  // slow enough for the budget
    taken = stage.feed(http2_frame(NGHTTP2_PING, 0, 0, std::string(8, 'x')));
  }
  ASSERT_FALSE(taken);
  EXPECT_TRUE(stage.session.was_flooded());
}

}  // namespace
}  // namespace strata::proto
