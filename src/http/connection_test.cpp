// The two sides of HTTP/1.1 against each other, on every backend, and against hostile bytes.
#include <gtest/gtest.h>

#include "http/client/http1_client.hpp"
#include "http/server_connection.hpp"
#include "net/testing/backend_stage.hpp"

namespace strata::http {
namespace {

using proto::http_fields;

const http_fields host = {{"Host", "test"}};

class http_test : public net::backend_stage {
 protected:
  void prepare() override {
    auto [client, server] = connected_pair();
    client_ = std::make_unique<http1_client>(std::move(client));
    served_ = std::make_unique<server_connection>(std::move(server), limits_);
    tasks_.spawn(run_server());
  }

  /// The reply to a GET or a POST.
  struct reply {
    int status = 0;
    http_fields headers;
    std::string body;
  };
  reply ask(std::string_view method, std::string_view target, std::string_view body = {}) {
    std::optional<reply> got;
    const auto run = [&]() -> loop::task<> {
      reply made;
      auto head = co_await client_->ask(method, target, host, body);
      if (head) {
        made.status = head->status;
        made.headers = head->headers;
        auto all = co_await client_->read_all(SIZE_MAX, loop::time_point::max());
        made.body = all ? *all : describe(all.error());
      } else {
        made.body = describe(head.error());
      }
      got = std::move(made);
    };
    loop::task_group asking;
    asking.spawn(run());
    EXPECT_TRUE(run_until([&] { return got.has_value(); })) << method << " " << target;
    return got.value_or(reply{});
  }

  std::unique_ptr<http1_client> client_;
  server_limits limits_{.max_unsent = 10'000};
  std::unique_ptr<server_connection> served_;
  std::unique_ptr<net::byte_channel> upgraded_;
  std::size_t pieces_ = 0;
  bool has_ended_ = false;
  loop::task_group tasks_;

 private:
  loop::task<> run_server() {
    const handlers handlers{.answer = [this](exchange& exchange) { return answer(exchange); },
                            .refuse =
                                [](int, const error& why, const net::peer_info&) {
                                  return std::pair{describe(why), std::string("text/plain")};
                                }};
    co_await served_->serve(handlers);
    has_ended_ = true;
  }

  loop::task<> answer(exchange& exchange) {
    const auto& path = exchange.request().path;
    if (path == "/echo") {
      auto body = co_await exchange.read_all(1000);
      if (body) {
        exchange.respond(200, "text/plain", *body);
      } else {
        exchange.respond(body.error().code == errc::limit_exceeded ? 413 : 400, "text/plain",
                         describe(body.error()));
      }
    } else if (path == "/count") {
      std::size_t size = 0;
      for (;;) {
        auto more = co_await exchange.read();
        if (!more || more->empty()) break;
        size += more->size();
        ++pieces_;
      }
      exchange.respond(200, "text/plain", std::to_string(size));
    } else if (path == "/long") {
      exchange.begin({.status = 200, .fields = {{"Content-Type", "text/plain"}}, .length = {}});
      for (int i = 0; i < 100; ++i) {
        const std::string piece(1000, 'x');
        const bool has_room = co_await exchange.write(piece);
        if (!has_room) co_return;
        EXPECT_LE(exchange.unsent(), 12'000U);
      }
      exchange.finish();
    } else if (path == "/ignore") {
      exchange.respond(200, "text/plain", "ignored");
    } else if (path == "/upgrade") {
      upgraded_ = exchange.upgrade({});
    }
  }
};

TEST_P(http_test, many_requests_on_one_connection) {
  for (int i = 0; i < 20; ++i) {
    const auto text = "hello " + std::to_string(i);
    const auto got = ask("POST", "/echo", text);
    EXPECT_EQ(got.status, 200);
    EXPECT_EQ(got.body, text);
    EXPECT_TRUE(client_->is_free());
  }
}

TEST_P(http_test, a_head_has_the_headers_alone) {
  const auto got = ask("HEAD", "/echo");
  EXPECT_EQ(got.status, 200);
  EXPECT_EQ(got.body, "");
  EXPECT_EQ(ask("POST", "/echo", "after").body, "after");
}

TEST_P(http_test, a_body_comes_in_pieces) {
  const std::string large(300'000, 'x');
  EXPECT_EQ(ask("POST", "/count", large).body, "300000");
  EXPECT_GT(pieces_, 3U);
}

TEST_P(http_test, a_body_over_its_limit_ends_the_connection) {
  const auto got = ask("POST", "/echo", std::string(1001, 'x'));
  EXPECT_EQ(got.status, 413);
  EXPECT_NE(got.body.find("1000 bytes"), std::string::npos) << got.body;
  EXPECT_FALSE(client_->is_free());
  EXPECT_TRUE(run_until([&] { return has_ended_; }));
}

TEST_P(http_test, a_body_that_nobody_reads_is_passed_over) {
  EXPECT_EQ(ask("POST", "/ignore", std::string(50'000, 'x')).body, "ignored");
  EXPECT_EQ(ask("POST", "/echo", "next").body, "next");
}

TEST_P(http_test, a_long_answer_waits_for_its_reader) {
  const auto got = ask("GET", "/long");
  EXPECT_EQ(got.body.size(), 100'000U);
  EXPECT_TRUE(client_->is_free());
}

TEST_P(http_test, no_answer_is_500) { EXPECT_EQ(ask("GET", "/nothing").status, 500); }

TEST_P(http_test, an_upgrade_hands_over_the_stream_and_what_came_behind) {
  auto [raw, server] = connected_pair();
  std::unique_ptr<net::byte_channel> taken;
  server_connection connection(std::move(server));
  const auto serve = [&]() -> loop::task<> {
    const handlers handlers{
        .answer = [&](exchange& exchange) -> loop::task<> {
          taken = exchange.upgrade({});
          co_return;
        },
        .refuse = [](int, const error&,
                     const net::peer_info&) { return std::pair<std::string, std::string>(); }};
    co_await connection.serve(handlers);
  };
  loop::task_group tasks;
  tasks.spawn(serve());
  raw->push_copy(
      as_bytes("GET / HTTP/1.1\r\nHost: x\r\nUpgrade: chat\r\n"
               "Connection: upgrade\r\n\r\nfirst words"));
  ASSERT_TRUE(run_until([&] { return taken != nullptr; }));
  std::string received;
  bool ended = false;
  loop::task_group reading;
  reading.spawn(read_all(*taken, received, ended));
  raw->push_copy(as_bytes(", and more"));
  EXPECT_TRUE(run_until([&] { return received == "first words, and more"; })) << received;
}

TEST_P(http_test, one_that_retires_while_idle_ends) {
  EXPECT_EQ(ask("POST", "/echo", "first").body, "first");
  served_->retire();
  EXPECT_TRUE(run_until([&] { return has_ended_; }));
}

TEST_P(http_test, one_that_retires_inside_a_request_says_so_and_ends) {
  auto [raw, server] = connected_pair();
  server_connection connection(std::move(server));
  const auto serve = [&]() -> loop::task<> {
    const handlers handlers{
        .answer = [&](exchange& exchange) -> loop::task<> {
          auto body = co_await exchange.read_all(1000);
          exchange.respond(200, "text/plain", body.value_or("nothing"));
        },
        .refuse = [](int, const error&,
                     const net::peer_info&) { return std::pair<std::string, std::string>(); }};
    co_await connection.serve(handlers);
  };
  loop::task_group tasks;
  tasks.spawn(serve());
  std::string received;
  bool ended = false;
  tasks.spawn(read_all(*raw, received, ended));
  raw->push_copy(
      as_bytes("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n"
               "Expect: 100-continue\r\n\r\n"));
  ASSERT_TRUE(run_until([&] { return received.contains("100 Continue"); }));
  connection.retire();
  raw->push_copy(as_bytes("bodyGET / HTTP/1.1\r\nHost: x\r\n\r\n"));
  ASSERT_TRUE(run_until([&] { return ended; }));
  EXPECT_TRUE(received.contains("Connection: close\r\n")) << received;
  EXPECT_TRUE(received.ends_with("body")) << received;
}

TEST_P(http_test, what_is_no_http_is_refused_and_ends) {
  auto [raw, server] = connected_pair();
  server_connection connection(std::move(server));
  bool is_over = false;
  const auto serve = [&]() -> loop::task<> {
    const handlers handlers{.answer = [](exchange&) -> loop::task<> { co_return; },
                            .refuse =
                                [](int, const error& why, const net::peer_info&) {
                                  return std::pair{describe(why), std::string("text/plain")};
                                }};
    co_await connection.serve(handlers);
    is_over = true;
  };
  loop::task_group tasks;
  tasks.spawn(serve());
  std::string received;
  bool ended = false;
  tasks.spawn(read_all(*raw, received, ended));
  raw->push_copy(as_bytes("nonsense\r\n\r\n"));
  EXPECT_TRUE(run_until([&] { return is_over && received.starts_with("HTTP/1.1 400 "); }))
      << received;
}

INSTANTIATE_TEST_SUITE_P(backends, http_test, testing::Values("io_uring", "epoll", "simulation"),
                         [](const auto& backend) { return backend.param; });

}  // namespace
}  // namespace strata::http
