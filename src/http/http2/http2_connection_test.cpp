// HTTP/2 on a stream, against a libnghttp2 client, on every backend.
#include "http/http2/http2_connection.hpp"

#include <gtest/gtest.h>

#include "net/testing/backend_stage.hpp"
#include "proto/http/http2_test_peer.hpp"

namespace strata::http {
namespace {

using namespace std::chrono_literals;

class http2_connection_test : public net::backend_stage {
 protected:
  void prepare() override {
    auto [client, server] = connected_pair();
    wire_ = std::move(client);
    served_ = std::make_unique<http2_connection>(*loop_, std::move(server), limits());
    tasks_.spawn(run_server());
    tasks_.spawn(run_client());
  }
  [[nodiscard]] virtual server_limits limits() const { return {.max_unsent = 20'000}; }

  /// Sends the client's pending output.
  void send_request() {
    if (const auto said = peer_.take(); !said.empty()) wire_->push_copy(as_bytes(said));
  }
  bool says_until(const std::function<bool()>& done) {
    send_request();
    return run_until(done);
  }
  bool is_closed(std::uint32_t stream) { return peer_.of(stream).is_closed; }

  std::unique_ptr<net::stream> wire_;
  std::unique_ptr<http2_connection> served_;
  proto::http2_test_peer peer_;
  std::string begun_;  // paths whose handlers have begun
  std::string ended_;
  std::string errors_;
  std::size_t most_unsent_ = 0;
  std::size_t counted_ = 0;
  exchange* held_ = nullptr;
  bool may_go_on_ = false;
  bool is_over_ = false;
  bool wire_ended_ = false;
  loop::task_group tasks_;

 private:
  loop::task<> run_server() {
    const handlers handlers{.answer = [this](exchange& exchange) { return serve(exchange); },
                            .refuse =
                                [](int, const error& why, const net::peer_info&) {
                                  return std::pair{describe(why), std::string("text/plain")};
                                }};
    co_await served_->serve(handlers);
    is_over_ = true;
  }
  loop::task<> run_client() {
    for (;;) {
      auto got = co_await wire_->receive();
      if (!got || got->empty()) break;
      EXPECT_TRUE(peer_.feed(as_text(got->bytes())));
      send_request();
    }
    wire_ended_ = true;
  }

  loop::task<> serve(exchange& exchange) {
    const auto path = exchange.request().path;
    begun_ += path;
    if (path == "/echo") {
      co_await echo(exchange);
    } else if (path == "/count") {
      co_await count(exchange);
    } else if (path == "/long") {
      co_await give_much(exchange);
    } else if (path == "/hold") {
      held_ = &exchange;
      co_await exchange.client_end();
      held_ = nullptr;
    } else if (path == "/ignore") {
      exchange.respond(200, "text/plain", "ignored");
    } else if (path == "/abort") {
      exchange.begin({.status = 200, .fields = {}, .length = {}});
      exchange.push("half");
      exchange.abort();
    } else if (path == "/half") {
      exchange.begin({.status = 200, .fields = {}, .length = {}});
    }
    ended_ += path;
  }
  static loop::task<> echo(exchange& exchange) {
    auto body = co_await exchange.read_all(1000);
    if (body) {
      exchange.respond(200, "text/plain", *body);
    } else {
      exchange.respond(status_of(body.error()), "text/plain", describe(body.error()));
    }
  }
  loop::task<> count(exchange& exchange) {
    for (;;) {
      while (!may_go_on_) co_await loop_->sleep(1ms);
      auto more = co_await exchange.read();
      if (!more) {
        errors_ += describe(more.error());
        co_return;
      }
      if (more->empty()) break;
      counted_ += more->size();
    }
    exchange.respond(200, "text/plain", std::to_string(counted_));
  }
  loop::task<> give_much(exchange& exchange) {
    exchange.begin({.status = 200, .fields = {}, .length = {}});
    for (int i = 0; i < 300; ++i) {
      const std::string piece(1000, 'x');
      const bool has_room = co_await exchange.write(piece);
      most_unsent_ = std::max(most_unsent_, exchange.unsent());
      if (!has_room) co_return;
    }
    exchange.finish();
  }
};

TEST_P(http2_connection_test, many_requests_side_by_side) {
  std::vector<std::uint32_t> asked;
  asked.reserve(80);
  for (int i = 0; i < 80; ++i) {
    asked.push_back(peer_.ask("POST", "/echo", {}, "hello " + std::to_string(i)));
  }
  ASSERT_TRUE(says_until(
      [&] { return std::ranges::all_of(asked, [&](auto id) { return is_closed(id); }); }));
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const auto& got = peer_.of(asked[i]);
    EXPECT_EQ(got.status, 200);
    EXPECT_EQ(got.body, "hello " + std::to_string(i));
    EXPECT_TRUE(proto::find_field(got.headers, "date"));
    EXPECT_EQ(proto::find_field(got.headers, "content-length"), std::to_string(got.body.size()));
  }
}

TEST_P(http2_connection_test, one_that_waits_holds_up_no_other) {
  const auto slow = peer_.ask("POST", "/echo", {}, "never ends", true);
  const auto quick = peer_.ask("POST", "/echo", {}, "quick");
  ASSERT_TRUE(says_until([&] { return is_closed(quick); }));
  EXPECT_FALSE(is_closed(slow));
  EXPECT_EQ(peer_.of(quick).body, "quick");
}

TEST_P(http2_connection_test, a_head_has_the_headers_alone) {
  const auto head = peer_.ask("HEAD", "/ignore");
  ASSERT_TRUE(says_until([&] { return is_closed(head); }));
  EXPECT_EQ(peer_.of(head).status, 200);
  EXPECT_EQ(proto::find_field(peer_.of(head).headers, "content-length"), "7");
  EXPECT_EQ(peer_.of(head).body, "");
}

TEST_P(http2_connection_test, what_cannot_be_read_is_refused_and_the_rest_goes_on) {
  const auto wrong = peer_.ask("GET", "/%zz");
  const auto large = peer_.ask("GET", "/", {{"x", std::string(17'000, 'x')}});
  const auto none = peer_.ask("GET", "/nothing");
  const auto half = peer_.ask("GET", "/half");
  ASSERT_TRUE(says_until([&] { return is_closed(none) && is_closed(half); }));
  EXPECT_EQ(peer_.of(wrong).status, 400);
  EXPECT_NE(peer_.of(wrong).body.find("percent-encoding"), std::string::npos);
  EXPECT_EQ(peer_.of(large).status, 431);
  EXPECT_EQ(peer_.of(none).status, 500);
  EXPECT_EQ(peer_.of(half).code, NGHTTP2_INTERNAL_ERROR);
  EXPECT_EQ(begun_, "/nothing/half");
}

TEST_P(http2_connection_test, a_body_that_nobody_reads_yet_is_held_back) {
  const auto id = peer_.ask("POST", "/count", {}, std::string(1'000'000, 'x'));
  const auto other = peer_.ask("POST", "/echo", {}, "other");
  ASSERT_TRUE(says_until([&] { return is_closed(other); }));
  EXPECT_EQ(counted_, 0U);
  may_go_on_ = true;
  ASSERT_TRUE(run_until([&] { return is_closed(id); }));
  EXPECT_EQ(peer_.of(id).body, "1000000");
}

TEST_P(http2_connection_test, a_body_over_its_limit_is_refused_and_the_connection_goes_on) {
  const auto announced =
      peer_.ask("POST", "/echo", {{"content-length", "1001"}}, std::string(1001, 'x'));
  const auto found = peer_.ask("POST", "/echo", {}, std::string(5000, 'x'));
  ASSERT_TRUE(says_until([&] { return is_closed(announced) && is_closed(found); }));
  EXPECT_EQ(peer_.of(announced).status, 413);
  EXPECT_EQ(peer_.of(found).status, 413);
  const auto next = peer_.ask("POST", "/echo", {}, "next");
  ASSERT_TRUE(says_until([&] { return is_closed(next); }));
  EXPECT_EQ(peer_.of(next).body, "next");
}

TEST_P(http2_connection_test, a_body_that_nobody_reads_is_passed_over_to_a_limit) {
  const auto some = peer_.ask("POST", "/ignore", {}, std::string(500'000, 'x'));
  ASSERT_TRUE(says_until([&] { return is_closed(some); }));
  EXPECT_EQ(peer_.of(some).body, "ignored");
  EXPECT_EQ(peer_.of(some).code, NGHTTP2_NO_ERROR);
  const auto much = peer_.ask("POST", "/ignore", {}, std::string(5'000'000, 'x'), true);
  ASSERT_TRUE(says_until([&] { return is_closed(much); }));
  EXPECT_EQ(peer_.of(much).body, "ignored");
}

TEST_P(http2_connection_test, a_long_answer_waits_for_its_reader) {
  const auto id = peer_.ask("GET", "/long");
  ASSERT_TRUE(says_until([&] { return is_closed(id); }));
  EXPECT_EQ(peer_.of(id).body.size(), 300'000U);
  EXPECT_LE(most_unsent_, 21'000U);
}

TEST_P(http2_connection_test, what_a_client_takes_back_ends_for_its_handler) {
  const auto held = peer_.ask("GET", "/hold");
  const auto reading = peer_.ask("POST", "/count", {}, "some", true);
  may_go_on_ = true;
  ASSERT_TRUE(says_until([&] { return held_ != nullptr && counted_ == 4; }));
  peer_.reset(held);
  peer_.reset(reading);
  ASSERT_TRUE(says_until([&] { return ended_.contains("/hold") && !errors_.empty(); }));
  EXPECT_NE(errors_.find("canceled the request"), std::string::npos) << errors_;
  const auto next = peer_.ask("POST", "/echo", {}, "next");
  EXPECT_TRUE(says_until([&] { return is_closed(next); }));
}

TEST_P(http2_connection_test, what_is_taken_back_at_once_reaches_no_handler) {
  const auto first = peer_.ask("GET", "/ignore");
  auto said = peer_.take();
  peer_.reset(first);
  said += peer_.take();
  wire_->push_copy(as_bytes(said));
  const auto next = peer_.ask("POST", "/echo", {}, "next");
  ASSERT_TRUE(says_until([&] { return is_closed(next); }));
  EXPECT_EQ(begun_, "/echo");
}

TEST_P(http2_connection_test, an_event_stream_speaks_when_it_has_something_to_say) {
  const auto id = peer_.ask("GET", "/hold");
  ASSERT_TRUE(says_until([&] { return held_ != nullptr; }));
  held_->begin({.status = 200, .fields = {}, .length = {}});
  for (const std::string_view each : {"one", "two", "three"}) {
    const auto before = peer_.of(id).body.size();
    held_->push(each);
    ASSERT_TRUE(run_until([&] { return peer_.of(id).body.size() == before + each.size(); }));
  }
  held_->finish();
  ASSERT_TRUE(run_until([&] { return is_closed(id); }));
  EXPECT_EQ(peer_.of(id).body, "onetwothree");
  EXPECT_TRUE(run_until([&] { return held_ == nullptr; }));
}

TEST_P(http2_connection_test, an_aborted_answer_is_reset) {
  const auto id = peer_.ask("GET", "/abort");
  ASSERT_TRUE(says_until([&] { return is_closed(id); }));
  EXPECT_EQ(peer_.of(id).code, NGHTTP2_INTERNAL_ERROR);
}

TEST_P(http2_connection_test, a_client_that_leaves_ends_the_connection) {
  const auto id = peer_.ask("POST", "/echo", {}, "last");
  ASSERT_TRUE(says_until([&] { return is_closed(id); }));
  peer_.leave();
  EXPECT_TRUE(says_until([&] { return wire_ended_; }));
  wire_.reset();
  EXPECT_TRUE(run_until([&] { return is_over_; }));
}

TEST_P(http2_connection_test, one_that_retires_finishes_what_runs_and_takes_no_more) {
  const auto held = peer_.ask("GET", "/hold");
  ASSERT_TRUE(says_until([&] { return held_ != nullptr; }));
  served_->retire();
  ASSERT_TRUE(run_until([&] { return peer_.farewell() == NGHTTP2_NO_ERROR; }));
  // From a client that has not received it yet.
  wire_->push_copy(as_bytes(proto::http2_frame(NGHTTP2_HEADERS, 5, 9, proto::http2_get_block)));
  run_turns(20);
  EXPECT_EQ(begun_, "/hold");
  EXPECT_FALSE(wire_ended_);
  held_->respond(200, "text/plain", "the last");
  ASSERT_TRUE(run_until([&] { return is_closed(held) && wire_ended_; }));
  EXPECT_EQ(peer_.of(held).body, "the last");
  wire_.reset();
  EXPECT_TRUE(run_until([&] { return is_over_; }));
}

TEST_P(http2_connection_test, one_that_retires_and_has_nothing_to_do_ends) {
  served_->retire();
  ASSERT_TRUE(says_until([&] { return wire_ended_; }));
  EXPECT_EQ(peer_.farewell(), NGHTTP2_NO_ERROR);
}

TEST_P(http2_connection_test, handlers_end_where_they_wait_when_the_client_is_gone) {
  peer_.ask("GET", "/hold");
  peer_.ask("POST", "/count", {}, "some", true);
  ASSERT_TRUE(says_until([&] { return held_ != nullptr; }));
  wire_->abort();
  EXPECT_TRUE(run_until([&] { return is_over_; }));
  EXPECT_EQ(ended_, "");
}

TEST_P(http2_connection_test, a_flood_ends_the_connection_with_a_reason) {
  const auto held = peer_.ask("GET", "/hold");
  ASSERT_TRUE(says_until([&] { return held_ != nullptr; }));
  for (int i = 0; i < 3000; ++i) {
    wire_->push_copy(as_bytes(proto::http2_frame(NGHTTP2_PING, 0, 0, "12345678")));
  }
  ASSERT_TRUE(run_until([&] { return peer_.farewell() >= 0 && wire_ended_; }));
  EXPECT_EQ(peer_.farewell(), NGHTTP2_ENHANCE_YOUR_CALM);
  EXPECT_TRUE(served_->was_flooded());
  EXPECT_FALSE(is_closed(held));
  EXPECT_TRUE(run_until([&] { return is_over_; }));  // even though the client does not close
}

class http2_patience : public http2_connection_test {
 protected:
  [[nodiscard]] server_limits limits() const override {
    return {
        .write_timeout = 40ms, .head_timeout = 40ms, .body_timeout = 40ms, .idle_timeout = 80ms};
  }
};

TEST_P(http2_patience, silence_ends_the_connection) {
  ASSERT_TRUE(says_until([&] { return wire_ended_; }));
  EXPECT_EQ(peer_.farewell(), NGHTTP2_NO_ERROR);
}

TEST_P(http2_patience, a_head_that_does_not_end_ends_the_connection) {
  peer_.ask("GET", "/hold");
  ASSERT_TRUE(says_until([&] { return held_ != nullptr; }));
  wire_->push_copy(as_bytes(proto::http2_frame(NGHTTP2_HEADERS, 0, 3, proto::http2_get_block)));
  EXPECT_TRUE(run_until([&] { return wire_ended_; }));
  EXPECT_EQ(begun_, "/hold");
}

TEST_P(http2_patience, a_body_that_says_nothing_is_not_waited_for) {
  const auto id = peer_.ask("POST", "/echo", {}, "some", true);
  ASSERT_TRUE(says_until([&] { return is_closed(id); }));
  EXPECT_EQ(peer_.of(id).status, 408);
}

INSTANTIATE_TEST_SUITE_P(backends, http2_connection_test,
                         testing::Values("io_uring", "epoll", "simulation"),
                         [](const auto& backend) { return backend.param; });
INSTANTIATE_TEST_SUITE_P(backends, http2_patience,
                         testing::Values("io_uring", "epoll", "simulation"),
                         [](const auto& backend) { return backend.param; });

}  // namespace
}  // namespace strata::http
