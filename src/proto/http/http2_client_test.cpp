// Tests a client's HTTP/2 session against a server's: each receives what the other sends.
#include <gtest/gtest.h>

#include <list>
#include <string>

#include "proto/http/http2.hpp"

namespace strata::proto {
namespace {

using namespace std::chrono_literals;

constexpr http2_session::time_point at_test_time{1000s};

struct http2_heard final : http2_stream {
  void on_head(http_response_head&& come) override { head = std::move(come); }
  void on_body(byte_span bytes) override { body += as_text(bytes); }
  void on_trailers(http_fields&& fields) override { trailers = std::move(fields); }
  void on_end() override { is_whole = true; }
  void on_close() override { is_closed = true; }
  [[nodiscard]] supply supplied() const override {
    return {said.size(), true, behind.empty() ? nullptr : &behind};
  }
  void move_body(std::size_t count) override {
    to->append(said, 0, count);
    said.erase(0, count);
  }

  std::string* to = nullptr;
  std::string said;
  http_fields behind;
  http_response_head head;
  std::string body;
  http_fields trailers;
  bool is_whole = false;
  bool is_closed = false;
};

struct http2_side final : http2_listener {
  explicit http2_side(http2_role role, http2_limits limits = {}) : session(*this, limits, role) {}

  http2_stream* on_request(arrival&& come) override {
    arrivals.push_back(std::move(come));
    auto& made = streams.emplace_back();
    made.to = &output;
    return &made;
  }
  void write(byte_span bytes) override { output += as_text(bytes); }
  http2_heard& ask(const http2_question& question, std::string body = {}, http_fields behind = {}) {
    auto& made = streams.emplace_back();
    made.to = &output;
    made.said = std::move(body);
    made.behind = std::move(behind);
    last = session.ask(question, made);
    return made;
  }

  std::list<arrival> arrivals;
  std::list<http2_heard> streams;
  std::string output;
  std::uint32_t last = 0;
  http2_session session;
};

class http2_both : public testing::Test {
 protected:
  void run() {
    for (bool goes_on = true; goes_on;) {
      goes_on = pass(client_, server_);
      goes_on = pass(server_, client_) || goes_on;
    }
  }
  static bool pass(http2_side& source, http2_side& side) {
    source.session.give_output(SIZE_MAX);
    const auto said = std::exchange(source.output, {});
    if (said.empty()) return false;
    const auto taken = side.session.feed(as_bytes(said), at_test_time);
    EXPECT_TRUE(taken) << describe(taken.error());
    return true;
  }

  http2_side client_{http2_role::client};
  http2_side server_{http2_role::server, {.max_streams = 2}};
  http_fields none_;
};

TEST_F(http2_both, a_question_and_its_answer_with_fields_behind_both) {
  const http_fields fields = {{"X-One", "1"}, {"Connection", "close"}};
  auto& asked = client_.ask({.method = "POST",
                             .scheme = "http",
                             .authority = "h:1",
                             .target = "/a?b",
                             .fields = fields,
                             .has_body = true},
                            "question", {{"sum", "7"}});
  run();
  ASSERT_EQ(server_.arrivals.size(), 1U);
  const auto& come = server_.arrivals.front();
  EXPECT_EQ(come.request.method, "POST");
  EXPECT_EQ(come.request.target, "/a?b");
  EXPECT_EQ(come.request.header("host"), "h:1");
  EXPECT_EQ(come.request.header("x-one"), "1");
  EXPECT_FALSE(come.request.header("connection"));
  auto& served = server_.streams.front();
  EXPECT_EQ(served.body, "question");
  EXPECT_EQ(served.trailers, (http_fields{{"sum", "7"}}));
  EXPECT_TRUE(served.is_whole);

  served.said = "answer";
  served.behind = {{"grpc-status", "0"}};
  server_.session.inform(come.stream, 100, {});
  server_.session.answer(
      come.stream, {.status = 201, .fields = none_, .date = {}, .length = {}, .has_body = true});
  run();
  EXPECT_EQ(asked.head.status, 201);
  EXPECT_EQ(asked.body, "answer");
  EXPECT_EQ(asked.trailers, (http_fields{{"grpc-status", "0"}}));
  EXPECT_TRUE(asked.is_whole && asked.is_closed);
}

TEST_F(http2_both, no_more_is_asked_at_once_than_the_server_wants) {
  const http2_question get{
      .method = "GET", .scheme = "http", .authority = "h", .target = "/", .fields = none_};
  run();
  client_.ask(get);
  EXPECT_TRUE(client_.session.may_ask());
  client_.ask(get);
  EXPECT_FALSE(client_.session.may_ask());
  run();
  server_.session.answer(server_.arrivals.front().stream,
                         {.status = 204, .fields = none_, .date = {}, .length = {}});
  run();
  EXPECT_TRUE(client_.streams.front().is_closed);
  EXPECT_TRUE(client_.session.may_ask());
}

TEST_F(http2_both, after_a_farewell_nothing_is_asked) {
  run();
  server_.session.retire();
  run();
  EXPECT_FALSE(client_.session.may_ask());
  client_.ask(
      {.method = "GET", .scheme = "http", .authority = "h", .target = "/", .fields = none_});
  EXPECT_EQ(client_.last, 0U);
}

TEST_F(http2_both, an_answer_whose_head_is_too_long_is_taken_back) {
  auto& asked = client_.ask(
      {.method = "GET", .scheme = "http", .authority = "h", .target = "/", .fields = none_});
  run();
  const http_fields much = {{"a", std::string(10'000, 'x')}, {"b", std::string(10'000, 'y')}};
  server_.session.answer(server_.arrivals.front().stream,
                         {.status = 200, .fields = much, .date = {}, .length = {}});
  run();
  EXPECT_EQ(asked.head.status, 0);
  EXPECT_TRUE(asked.is_closed);
}

}  // namespace
}  // namespace strata::proto
