// RFC 9112 on both sides' connections, byte by byte: how an answer is framed, what is read behind
// it, and when the connection ends.
#include <gtest/gtest.h>

#include <algorithm>

#include "http/client/http1_client.hpp"
#include "http/server_connection.hpp"
#include "net/testing/backend_stage.hpp"

namespace strata::http {
namespace {

class http1_rules : public net::backend_stage {
 protected:
  /// Everything that a server answers to these bytes until it ends the connection. If `says_end`,
  /// the client ends its direction behind them.
  std::string answers_to(std::string_view bytes, bool says_end = false) {
    asked_.clear();
    bodies_.clear();
    auto [client, server] = connected_pair();
    const server_limits limits{.max_unread = 1000};
    server_connection serving(std::move(server), limits);
    std::string received;
    bool has_ended = false;
    loop::task_group tasks;
    tasks.spawn(serve(serving));
    tasks.spawn(read_all(*client, received, has_ended));
    client->push_copy(as_bytes(bytes));
    if (says_end) client->end();
    EXPECT_TRUE(run_until([&] { return has_ended; })) << bytes << received;
    return received;
  }
  /// The same, with a request appended that ends the connection if it is read.
  std::string answers_before_last(std::string_view bytes) {
    return answers_to(std::string(bytes) +
                      "GET /last HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  }
  /// The text without the Date line, which varies.
  static std::string without_date(std::string text) {
    const auto date = text.find("Date: ");
    if (date != std::string::npos) text.erase(date, text.find('\n', date) + 1 - date);
    return text;
  }
  std::string one_answer(std::string_view request) { return without_date(answers_to(request)); }

  std::vector<std::string> asked_;   // the requested paths, in order
  std::vector<std::string> bodies_;  // or "cut" if incomplete

 private:
  loop::task<> serve(server_connection& connection) {
    const handlers handlers{
        .answer = [this](exchange& exchange) { return answer(exchange); },
        .refuse = [](int, const error&,
                     const net::peer_info&) { return std::pair("wrong\n", "text/plain"); }};
    co_await connection.serve(handlers);
  }
  loop::task<> answer(exchange& exchange) {
    const auto path = exchange.request().path;
    asked_.push_back(path);
    if (path == "/read") {
      auto body = co_await exchange.read_all(1000);
      bodies_.push_back(body ? *body : "cut");
    }
    const int status = path == "/204" ? 204 : path == "/304" ? 304 : 200;
    answer_head head{.status = status, .fields = {}, .length = {}};
    if (path == "/sized") head.length = 4;
    exchange.begin(std::move(head));
    exchange.push("body");
    exchange.finish();
  }
};

constexpr std::string_view closing = " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";

std::string get(std::string_view path) {
  return "GET " + std::string(path) + " HTTP/1.1\r\nHost: x\r\n\r\n";
}
std::size_t count_in(std::string_view text, std::string_view what) {
  std::size_t count = 0;
  for (auto at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++count;
  return count;
}

// Sections 6.1, 6.2 and 7.1: a length or chunks, never both.
TEST_P(http1_rules, an_answer_has_a_length_or_chunks) {
  EXPECT_EQ(one_answer("GET /sized" + std::string(closing)),
            "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\nbody");
  EXPECT_EQ(one_answer("GET /" + std::string(closing)),
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
            "4\r\nbody\r\n0\r\n\r\n");
}

// Sections 6.1 and 6.3, point 1; RFC 9110 section 8.6: 204 has neither, and 304 and HEAD no body.
TEST_P(http1_rules, an_answer_without_a_body_has_none) {
  for (const auto* status : {"204 No Content", "304 Not Modified"}) {
    const auto path = "GET /" + std::string(status).substr(0, 3);
    EXPECT_EQ(one_answer(path + std::string(closing)),
              "HTTP/1.1 " + std::string(status) + "\r\nConnection: close\r\n\r\n");
  }
  EXPECT_EQ(one_answer("HEAD /sized" + std::string(closing)),
            "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(one_answer("HEAD /" + std::string(closing)),
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n");
}

// Section 6.1: no Transfer-Encoding for an HTTP/1.0 client; the body ends with the connection.
TEST_P(http1_rules, a_client_of_http_1_0_gets_no_chunks) {
  for (const auto* field : {"", "Connection: keep-alive\r\n", "TE: chunked\r\n"}) {
    EXPECT_EQ(one_answer("GET / HTTP/1.0\r\n" + std::string(field) + "\r\n"),
              "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nbody");
  }
}

// Section 6.3, point 7: a request without a length has no body.
TEST_P(http1_rules, a_request_without_a_length_has_no_body) {
  answers_before_last("POST /read HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(asked_, (std::vector<std::string>{"/read", "/last"}));
  EXPECT_EQ(bodies_, (std::vector<std::string>{""}));
}

// Section 9.3.2: answers come in the order of the requests.
TEST_P(http1_rules, pipelined_requests_are_answered_in_their_order) {
  const auto received = answers_before_last(get("/sized") + get("/204") + get("/304"));
  EXPECT_EQ(asked_, (std::vector<std::string>{"/sized", "/204", "/304", "/last"}));
  EXPECT_LT(received.find(" 200 "), received.find(" 204 "));
  EXPECT_LT(received.find(" 204 "), received.find(" 304 "));
  EXPECT_LT(received.find(" 304 "), received.rfind(" 200 "));
}

// Section 9.3: a body that the handler has not read is skipped, or ends the connection.
TEST_P(http1_rules, what_is_left_of_a_body_is_no_request) {
  const auto smuggled = get("/smuggled");
  const auto length = std::to_string(smuggled.size());
  answers_before_last("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: " + length + "\r\n\r\n" +
                      smuggled);
  EXPECT_EQ(asked_, (std::vector<std::string>{"/", "/last"}));
  const auto much = std::string(300'000, ' ') + smuggled;
  answers_before_last("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: " +
                      std::to_string(much.size()) + "\r\n\r\n" + much);
  EXPECT_EQ(asked_, (std::vector<std::string>{"/"})) << "too much to pass over";
  // The client may send a body or the next request here: it has not waited for an answer.
  answers_before_last("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: " +
                      length + "\r\n\r\n" + smuggled);
  EXPECT_EQ(std::ranges::count(asked_, "/smuggled"), 0);
}

// Section 9.6: nothing behind a `close`, from either side, is processed, and the connection ends.
TEST_P(http1_rules, nothing_is_read_behind_a_close) {
  for (const auto* field :
       {"Connection: close", "Connection: x, CLOSE", "Connection: keep-alive, close",
        "Connection: close\r\nConnection: x"}) {
    const auto received =
        answers_before_last("GET / HTTP/1.1\r\nHost: x\r\n" + std::string(field) + "\r\n\r\n");
    EXPECT_EQ(asked_, (std::vector<std::string>{"/"})) << field;
    EXPECT_EQ(count_in(received, "Connection: close\r\n"), 1U) << field;
  }
  answers_before_last("GET /sized HTTP/1.0\r\n\r\n");
  EXPECT_EQ(asked_, (std::vector<std::string>{"/sized"})) << "section 9.3";
  answers_before_last("GET /sized HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_EQ(asked_, (std::vector<std::string>{"/sized", "/last"}));
}

// Sections 2.2, 3.2, 5.1, 6.1 and 6.3: answered with 400, and the connection ends without reading
// the rest.
TEST_P(http1_rules, a_message_whose_end_is_in_doubt_is_the_last) {
  for (const auto* head :
       {"Host: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n", "Content-Length: 0\r\n",
        "Host: x\r\nContent-Length: 5, 6\r\n", "Host: x\r\nContent-Length : 0\r\n",
        "Host: x\r\nTransfer-Encoding: chunked, gzip\r\n", "Host: x\r\nHost: y\r\n",
        "Host: x\r\nA: b\n", "Host: x\r\nA: b\r\n c\r\n"}) {
    const auto received = answers_before_last("POST / HTTP/1.1\r\n" + std::string(head) + "\r\n");
    EXPECT_TRUE(received.starts_with("HTTP/1.1 400 ")) << head << received;
    EXPECT_EQ(count_in(received, "HTTP/1.1 "), 1U) << head;
    EXPECT_EQ(count_in(received, "Connection: close\r\n"), 1U) << head;
    EXPECT_TRUE(asked_.empty()) << head;
  }
  const auto chunks = answers_before_last(
      "POST /read HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcde\r\n");
  EXPECT_TRUE(chunks.starts_with("HTTP/1.1 400 ")) << chunks;
  EXPECT_EQ(std::ranges::count(asked_, "/last"), 0);
}

// Sections 6.3, point 6, and 8: a message that ends early is incomplete.
TEST_P(http1_rules, a_request_that_is_cut_is_not_taken_for_whole) {
  for (const auto* head : {"Content-Length: 5\r\n\r\nabcd", "Content-Length: 5\r\n\r\n",
                           "Transfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n",
                           "Transfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n0\r\n"}) {
    answers_to("POST /read HTTP/1.1\r\nHost: x\r\n" + std::string(head), true);
    EXPECT_EQ(bodies_, (std::vector<std::string>{"cut"})) << head;
  }
  EXPECT_EQ(answers_to("GET / HTTP/1.1\r\nHost: x\r\n", true), "");
  EXPECT_TRUE(asked_.empty());
}

/// The client's side, against a scripted server.
class http1_client_rules : public net::backend_stage {
 protected:
  void prepare() override { reconnect(); }
  void reconnect() {
    tasks_.cancel();
    received_.clear();
    auto [client, server] = connected_pair();
    client_ = std::make_unique<http1_client>(std::move(client));
    server_ = std::move(server);
    tasks_.spawn(read_all(*server_, received_, has_ended_));
  }
  /// The body of the answer, or "wrong".
  std::string ask(std::string_view method, std::string_view body, std::string_view answer) {
    std::optional<std::string> got;
    loop::task_group asking;
    asking.spawn(run(method, body, got));
    run_turns(3);
    server_->push_copy(as_bytes(answer));
    if (answer.empty()) server_->end();
    EXPECT_TRUE(run_until([&] { return got.has_value(); }));
    return got.value_or("nothing");
  }

  std::unique_ptr<http1_client> client_;
  std::unique_ptr<net::stream> server_;
  std::string received_;

 private:
  loop::task<> run(std::string_view method, std::string_view body,
                   std::optional<std::string>& text) {
    const proto::http_fields fields = {{"Host", "there"}};
    auto head = co_await client_->ask(method, "/a", fields, body);
    if (!head) {
      text = "wrong";
      co_return;
    }
    auto all = co_await client_->read_all(1000, loop::time_point::max());
    text = all ? *all : "wrong";
  }

  bool has_ended_ = false;
  loop::task_group tasks_;
};

constexpr std::string_view short_answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

// Sections 2.2 and 6.2: no CR LF before or behind a request, and a length if there is a body.
TEST_P(http1_client_rules, requests_are_what_the_rfc_wants_and_no_more) {
  EXPECT_EQ(ask("GET", "", short_answer), "ok");
  EXPECT_TRUE(client_->is_free());
  EXPECT_EQ(ask("POST", "body", short_answer), "ok");
  EXPECT_EQ(ask("PUT", "", short_answer), "ok");
  const std::string_view wanted =
      "GET /a HTTP/1.1\r\nHost: there\r\n\r\n"
      "POST /a HTTP/1.1\r\nHost: there\r\nContent-Length: 4\r\n\r\nbody"
      "PUT /a HTTP/1.1\r\nHost: there\r\nContent-Length: 0\r\n\r\n";
  run_until([&] { return received_.size() >= wanted.size(); });
  EXPECT_EQ(received_, wanted);
}

// Sections 6.3, 9.2 and 9.6: a connection with `close`, or with more data than requested, is not
// reused.
TEST_P(http1_client_rules, a_connection_that_may_not_go_on_is_not_free) {
  struct row {
    const char* rule;
    std::string answer;
  };
  for (const auto& [rule, answer] :
       {row{"9.6: close", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok"},
        row{"9.3: HTTP/1.0", "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok"},
        row{"9.2: a second answer", std::string(short_answer).append(short_answer)},
        row{"6.3: more than its length", std::string(short_answer) + "\r\n"}}) {
    reconnect();
    EXPECT_EQ(ask("GET", "", answer), "ok") << rule;
    EXPECT_FALSE(client_->is_free()) << rule;
  }
}

// Section 8: a truncated answer is incomplete.
TEST_P(http1_client_rules, an_answer_that_is_cut_is_an_error) {
  EXPECT_EQ(ask("GET", "", ""), "wrong");
  EXPECT_FALSE(client_->is_free());
}

const auto each_backend = testing::Values("io_uring", "epoll", "simulation");
const auto backend_name = [](const auto& backend) { return backend.param; };
INSTANTIATE_TEST_SUITE_P(backends, http1_rules, each_backend, backend_name);
INSTANTIATE_TEST_SUITE_P(backends, http1_client_rules, each_backend, backend_name);

}  // namespace
}  // namespace strata::http
