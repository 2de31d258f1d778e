// A connection and a server that replies by a table, in a simulated network.
#include "redis/connection.hpp"

#include <gtest/gtest.h>

#include <map>

#include "loop/backends/sim_loop.hpp"
#include "net/listener.hpp"
#include "proto/resp/resp_request.hpp"

namespace strata::redis {
namespace {

using namespace std::chrono_literals;

class redis_connection_test : public testing::Test {
 protected:
  void SetUp() override {
    auto listening = loop_.listen(*loop::socket_address::from_ip("127.0.0.1", 7000), {});
    ASSERT_TRUE(listening);
    listener_ = std::make_unique<net::listener>(loop_, std::move(*listening));
    tasks_.spawn(serve());
  }

  /// Opens a connection to this URL, and returns what came of it.
  result<void> open(const std::string& url, protocol protocol = protocol::resp3) {
    std::optional<result<void>> done;
    auto server = parse_address(url);
    if (!server) return std::unexpected(server.error());
    connection opened(loop_, *server, {});
    const auto run = [&]() -> loop::task<> {
      auto opening = opened.open({.timeout = 2s}, protocol);
      done.emplace(co_await opening);
    };
    loop::task_group tasks;
    tasks.spawn(run());
    EXPECT_TRUE(world_.run_until([&] { return done.has_value(); }, 60s));
    return std::move(*done);
  }

  loop::sim_world world_{7};
  loop::sim_loop& loop_ = world_.add_loop();
  std::map<std::string, std::string> replies_;  // to each command, as a line of words
  std::vector<std::string> commands_;

 private:
  loop::task<> serve() {
    for (;;) {
      auto arrived = co_await listener_->accept();
      if (arrived) tasks_.spawn(reply(net::stream::over(loop_, std::move(*arrived))));
    }
  }

  loop::task<> reply(std::unique_ptr<net::stream> stream) {
    proto::request_reader reader;
    std::vector<std::string_view> words;
    for (;;) {
      auto arrived = co_await stream->receive();
      if (!arrived || arrived->empty()) co_return;
      reader.feed(arrived->bytes());
      while (reader.next(words) == proto::request_reader::outcome::request) {
        std::string line;
        for (const auto& each : words) line += (line.empty() ? "" : " ") + std::string(each);
        commands_.push_back(line);
        stream->push_copy(as_bytes(replies_[line]));
        words.clear();
      }
      reader.keep();
    }
  }

  std::unique_ptr<net::listener> listener_;
  loop::task_group tasks_;
};

using texts = std::vector<std::string>;

TEST_F(redis_connection_test, greets_in_resp3_and_selects) {
  replies_ = {{"HELLO 3 AUTH ann secret", "%0\r\n"}, {"SELECT 2", "+OK\r\n"}};
  const auto done = open("redis://ann:secret@127.0.0.1:7000/2");
  EXPECT_TRUE(done) << describe(done.error());
  EXPECT_EQ(commands_, (texts{"HELLO 3 AUTH ann secret", "SELECT 2"}));
}

TEST_F(redis_connection_test, a_server_that_does_not_know_resp3) {
  replies_ = {{"HELLO 3", "-ERR unknown command 'HELLO'\r\n"},
              {"HELLO 3 AUTH default secret", "-ERR unknown command 'HELLO'\r\n"},
              {"AUTH secret", "+OK\r\n"}};
  EXPECT_TRUE(open("redis://127.0.0.1:7000"));
  EXPECT_TRUE(open("redis://:secret@127.0.0.1:7000"));
  EXPECT_EQ(commands_, (texts{"HELLO 3", "HELLO 3 AUTH default secret", "AUTH secret"}));
}

TEST_F(redis_connection_test, resp2_needs_no_greeting) {
  replies_ = {{"AUTH secret", "+OK\r\n"}};
  EXPECT_TRUE(open("redis://127.0.0.1:7000", protocol::resp2));
  EXPECT_TRUE(open("redis://:secret@127.0.0.1:7000", protocol::resp2));
  EXPECT_EQ(commands_, (texts{"AUTH secret"}));
}

TEST_F(redis_connection_test, a_refusal_names_the_server_and_not_the_password) {
  replies_ = {{"HELLO 3 AUTH default secret", "-WRONGPASS invalid password\r\n"},
              {"HELLO 3", "%0\r\n"},
              {"SELECT 99", "-ERR DB index is out of range\r\n"}};
  for (const auto& [url, reason] :
       {std::pair{"redis://:secret@127.0.0.1:7000", "WRONGPASS invalid password"},
        std::pair{"redis://127.0.0.1:7000/99", "DB index is out of range"}}) {
    const auto done = open(url);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, errc::permission_denied);
    const auto text = describe(done.error());
    EXPECT_TRUE(text.contains("tcp://127.0.0.1:7000") && text.contains(reason)) << text;
    EXPECT_FALSE(text.contains("secret")) << text;
  }
}

TEST_F(redis_connection_test, a_server_that_does_not_reply_is_given_up) {
  const auto begun = world_.now();
  const auto done = open("redis://127.0.0.1:7000");
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, errc::timed_out);
  EXPECT_EQ(world_.now() - begun, 2s);
}

TEST_F(redis_connection_test, a_server_that_speaks_another_protocol) {
  replies_ = {{"HELLO 3", "HTTP/1.1 400 Bad Request\r\n\r\n"}};
  const auto done = open("redis://127.0.0.1:7000");
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, errc::malformed);
  EXPECT_TRUE(describe(done.error()).contains("tcp://127.0.0.1:7000"));
}

}  // namespace
}  // namespace strata::redis
