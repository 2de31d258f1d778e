// TLS in the byte channel, on every backend, and in a world of short reads, delays and resets.
#include "net/secured_stream.hpp"

#include "net/testing/backend_stage.hpp"
#include "net/testing/certificates.hpp"
#include "net/testing/seeds.hpp"

namespace strata::net {
namespace {

using namespace std::chrono_literals;

std::string numbered(std::size_t size) {
  std::string text;
  for (int i = 0; text.size() < size; ++i) text += std::to_string(i) + ' ';
  return text;
}

loop::task<> begin_tls(stream& stream, std::shared_ptr<const tls_context> with, std::string host,
                       std::optional<result<void>>& context) {
  context = co_await stream.start_tls(std::move(with), std::move(host), loop::time_point::max());
}

loop::task<> read_to_end(stream& stream, std::string& text, std::optional<result<void>>& ended) {
  for (;;) {
    auto got = co_await stream.receive();
    if (!got) {
      ended = std::unexpected(got.error());
      co_return;
    }
    if (got->empty()) break;
    text += as_text(got->bytes());
  }
  ended = result<void>{};
}

class secured_stream_test : public backend_stage {
 protected:
  static const test_authority& authority() {
    static const test_authority one;
    return one;
  }
  static std::shared_ptr<const tls_context> server_context() {
    static const auto one = test_server(
        {.certificates = {authority().issue({"localhost"})}, .protocols = {"two", "one"}});
    return one;
  }
  static std::shared_ptr<const tls_context> client_context() {
    static const auto one =
        test_client({.ca = authority().certificate(), .protocols = {"one", "two"}});
    return one;
  }
  /// Returns both sides after their handshake.
  pair secured_pair(std::shared_ptr<const tls_context> server, std::string host = "localhost") {
    auto made = connected_pair();
    std::optional<result<void>> at_client;
    std::optional<result<void>> at_server;
    loop::task_group tasks;
    tasks.spawn(begin_tls(*made.server, std::move(server), {}, at_server));
    tasks.spawn(begin_tls(*made.client, client_context(), std::move(host), at_client));
    EXPECT_TRUE(run_until([&] { return at_client && at_server; }));
    client_said_ = *at_client;
    server_said_ = *at_server;
    return made;
  }
  pair secured_pair() {
    auto made = secured_pair(server_context());
    EXPECT_TRUE(client_said_) << describe(client_said_.error());
    EXPECT_TRUE(server_said_) << describe(server_said_.error());
    return made;
  }

  result<void> client_said_;
  result<void> server_said_;
};

TEST_P(secured_stream_test, carries_what_is_pushed_both_ways_and_ends_in_good_order) {
  auto [client, server] = secured_pair();
  const auto question = numbered(300'000);
  const auto answer = numbered(200'000);
  client->push_copy(as_bytes(question));
  client->end();
  server->push_copy(as_bytes(answer));
  server->end();
  std::string at_server;
  std::string at_client;
  std::optional<result<void>> server_end;
  std::optional<result<void>> client_end;
  loop::task_group tasks;
  tasks.spawn(read_to_end(*server, at_server, server_end));
  tasks.spawn(read_to_end(*client, at_client, client_end));
  ASSERT_TRUE(run_until([&] { return server_end && client_end; }));
  EXPECT_TRUE(*server_end) << describe(server_end->error());
  EXPECT_TRUE(*client_end) << describe(client_end->error());
  EXPECT_TRUE(at_server == question);
  EXPECT_TRUE(at_client == answer);
}

TEST_P(secured_stream_test, says_what_was_agreed_on) {
  auto [client, server] = secured_pair();
  ASSERT_NE(client->tls(), nullptr);
  EXPECT_EQ(client->tls()->protocol, "TLSv1.3");
  EXPECT_EQ(client->tls()->application, "two") << "the server's order counts";
  EXPECT_EQ(client->tls()->peer_subject, "CN=localhost");
  EXPECT_TRUE(client->tls()->is_verified);
  EXPECT_EQ(server->tls()->server_name, "localhost");
  EXPECT_EQ(server->tls()->application, "two");
  EXPECT_EQ(server->tls()->peer_subject, "");
  auto plain = connected_pair();
  EXPECT_EQ(plain.client->tls(), nullptr);
}

TEST_P(secured_stream_test, begins_with_bytes_that_were_looked_at) {
  auto [client, server] = connected_pair();
  std::optional<result<void>> at_client;
  std::optional<result<void>> at_server;
  const auto look = [&]() -> loop::task<> {
    auto first = co_await server->receive();
    EXPECT_TRUE(first);
    const auto seen = first->bytes();
    EXPECT_EQ(seen.front(), std::byte{0x16});
    server->unread(std::move(*first));
    co_await loop_->sleep(1ms);
    co_await begin_tls(*server, server_context(), {}, at_server);
  };
  loop::task_group tasks;
  tasks.spawn(look());
  tasks.spawn(begin_tls(*client, client_context(), "localhost", at_client));
  ASSERT_TRUE(run_until([&] { return at_client && at_server; }));
  EXPECT_TRUE(*at_client && *at_server);
  client->push_copy(as_bytes("GET / HTTP/1.1\r\n"));
  std::string received;
  const auto detect = [&]() -> loop::task<> {
    auto first = co_await server->receive();
    server->unread(std::move(*first));
    auto again = co_await server->receive(loop_->now() + 1s);
    if (again && *again) received = as_text((*again)->bytes());
  };
  tasks.spawn(detect());
  EXPECT_TRUE(run_until([&] { return received == "GET / HTTP/1.1\r\n"; })) << received;
}

TEST_P(secured_stream_test, a_client_takes_no_certificate_of_another_name_or_authority) {
  (void)secured_pair(server_context(), "example.com");
  ASSERT_FALSE(client_said_);
  const auto wrong_name = describe(client_said_.error());
  EXPECT_TRUE(wrong_name.contains("its certificate is for localhost")) << wrong_name;
  EXPECT_FALSE(server_said_) << "it was told so";

  const test_authority foreign;
  (void)secured_pair(test_server({.certificates = {foreign.issue({"localhost"})}}));
  ASSERT_FALSE(client_said_);
  const auto unknown = describe(client_said_.error());
  EXPECT_TRUE(unknown.contains("is not trusted")) << unknown;
  ASSERT_FALSE(server_said_);
  const auto received = describe(server_said_.error());
  EXPECT_TRUE(received.contains("does not trust the authority")) << received;
}

TEST_P(secured_stream_test, a_server_with_client_authority_wants_a_certificate_of_it) {
  const auto strict = test_server(
      {.certificates = {authority().issue({"localhost"})}, .client_ca = authority().certificate()});
  (void)secured_pair(strict);
  ASSERT_FALSE(server_said_);
  const auto why = describe(server_said_.error());
  EXPECT_TRUE(why.contains("no certificate")) << why;

  auto [client, server] = connected_pair();
  std::optional<result<void>> at_client;
  std::optional<result<void>> at_server;
  const auto known =
      test_client({.ca = authority().certificate(), .certificate = authority().issue({"alice"})});
  loop::task_group tasks;
  tasks.spawn(begin_tls(*server, strict, {}, at_server));
  tasks.spawn(begin_tls(*client, known, "localhost", at_client));
  ASSERT_TRUE(run_until([&] { return at_client && at_server; }));
  ASSERT_TRUE(*at_server) << describe(at_server->error());
  EXPECT_EQ(server->tls()->peer_subject, "CN=alice");
}

TEST_P(secured_stream_test, the_name_that_is_asked_for_chooses_the_certificate) {
  const auto several = test_server(
      {.certificates = {authority().issue({"first.test"}), authority().issue({"second.test"}),
                        authority().issue({"*.wild.test"})}});
  const auto shown = [&](const std::string& host) {
    auto made = secured_pair(several, host);
    return made.client->tls() == nullptr ? std::string("none") : made.client->tls()->peer_subject;
  };
  EXPECT_EQ(shown("first.test"), "CN=first.test");
  EXPECT_EQ(shown("second.test"), "CN=second.test");
  EXPECT_EQ(shown("any.wild.test"), "CN=*.wild.test");
  EXPECT_EQ(shown("more.any.wild.test"), "none") << "a star is one label";
}

TEST_P(secured_stream_test, an_end_without_close_notify_is_an_error_for_a_client) {
  auto [client, server] = secured_pair();
  server->push_copy(as_bytes("half"));
  std::string received;
  std::optional<result<void>> ended;
  loop::task_group tasks;
  tasks.spawn(read_to_end(*client, received, ended));
  ASSERT_TRUE(run_until([&] { return received == "half"; }));
  server->abort();
  ASSERT_TRUE(run_until([&] { return ended.has_value(); }));
  ASSERT_FALSE(*ended);
  const auto why = describe(ended->error());
  EXPECT_TRUE(why.contains("close_notify")) << why;
}

TEST_P(secured_stream_test, a_server_lets_clients_just_close) {
  auto [client, server] = secured_pair();
  client->push_copy(as_bytes("bye"));
  std::string received;
  std::optional<result<void>> ended;
  loop::task_group tasks;
  tasks.spawn(read_to_end(*server, received, ended));
  ASSERT_TRUE(run_until([&] { return received == "bye"; }));
  client->abort();
  ASSERT_TRUE(run_until([&] { return ended.has_value(); }));
  EXPECT_TRUE(*ended) << describe(ended->error());
}

TEST_P(secured_stream_test, destroying_a_stream_says_its_end) {
  auto [client, server] = secured_pair();
  std::string received;
  std::optional<result<void>> ended;
  loop::task_group tasks;
  tasks.spawn(read_to_end(*client, received, ended));
  run_turns(5);
  server.reset();
  ASSERT_TRUE(run_until([&] { return ended.has_value(); }));
  EXPECT_TRUE(*ended) << describe(ended->error());
}

TEST_P(secured_stream_test, what_is_no_tls_is_told_so_and_ends) {
  auto [client, server] = connected_pair();
  std::optional<result<void>> at_server;
  loop::task_group tasks;
  tasks.spawn(begin_tls(*server, server_context(), {}, at_server));
  client->push_copy(as_bytes("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"));
  std::string received;
  std::optional<result<void>> ended;
  tasks.spawn(read_to_end(*client, received, ended));
  ASSERT_TRUE(run_until([&] { return ended.has_value(); }));
  client->end();
  ASSERT_TRUE(run_until([&] { return at_server.has_value(); }));
  ASSERT_FALSE(*at_server);
  const auto why = describe(at_server->error());
  EXPECT_TRUE(why.contains("HTTP without TLS")) << why;
}

TEST_P(secured_stream_test, a_handshake_has_a_time_limit) {
  auto [client, server] = connected_pair();
  std::optional<result<void>> said;
  const auto run = [&]() -> loop::task<> {
    const auto limit = loop_->now() + 20ms;
    said = co_await server->start_tls(server_context(), {}, limit);
  };
  loop::task_group tasks;
  tasks.spawn(run());
  client->push_copy(as_bytes(std::string_view("\x16\x03\x01\x40\x00", 5)));
  ASSERT_TRUE(run_until([&] { return said.has_value(); }));
  ASSERT_FALSE(*said);
  EXPECT_EQ(said->error().code, errc::timed_out);
}

TEST_P(secured_stream_test, records_fill) {
  auto [client, server] = secured_pair();
  std::string received;
  std::optional<result<void>> ended;
  loop::task_group tasks;
  tasks.spawn(read_to_end(*server, received, ended));
  run_turns(5);
  std::size_t sent = 0;
  for (int i = 0; i < 10'000; ++i) {
    client->push_copy(as_bytes("a line\n"));
    sent += 7;
  }
  EXPECT_EQ(client->unsent(), sent) << "figures are of what was pushed";
  ASSERT_TRUE(run_until([&] { return received.size() == sent; }));
  EXPECT_EQ(client->unsent(), 0U);
}

// One connection in a hostile world: a client sends, and the server answers with as much.
class unkind_world {
 public:
  explicit unkind_world(std::uint64_t seed)
      : world_(seed), loop_(world_.add_loop()), text_(numbered(1 + world_.draw(80'000))) {}

  void run(bool resets) {
    auto listening = loop_.listen(*loop::socket_address::from_ip("127.0.0.1", 0), {});
    const auto address = loop_.local_address(*listening);
    listener accepting(loop_, std::move(*listening));
    loop::task_group tasks;
    tasks.spawn(serve(accepting));
    tasks.spawn(ask(address));
    const auto has_both = [&] { return server_end_ && client_end_; };
    if (resets) {
      world_.run_until([&] { return client_ != nullptr; }, 1s);
      world_.run_for(loop::duration(world_.draw(20'000'000)));
      world_.faults.reset = 0.02;
      if (world_.chance(0.3) && client_) client_->abort();
      if (world_.chance(0.1) && server_) server_->abort();
    }
    world_.run_until(has_both, 60s);
    if (!resets) {
      ASSERT_TRUE(has_both());
      EXPECT_TRUE(*server_end_) << describe(server_end_->error());
      EXPECT_TRUE(*client_end_) << describe(client_end_->error());
    }
    // Received data is a prefix of what was sent. An end in good order follows all of it, except
    // that a client may close without one.
    EXPECT_TRUE(text_.starts_with(at_server_));
    EXPECT_TRUE(text_.starts_with(at_client_));
    if (client_end_ && *client_end_) {
      EXPECT_EQ(at_client_.size(), text_.size());
    }
    tasks.cancel();
    client_.reset();
    server_.reset();
  }

 private:
  static const test_authority& authority() {
    static const test_authority one;
    return one;
  }
  loop::task<> serve(listener& listener) {
    static const auto with = test_server({.certificates = {authority().issue({"localhost"})}});
    auto got = co_await listener.accept();
    if (!got) co_return;
    server_ = stream::over(loop_, std::move(*got));
    std::optional<result<void>> begun;
    co_await begin_tls(*server_, with, {}, begun);
    if (!*begun) {
      server_end_ = *begun;
      co_return;
    }
    server_->push_copy(as_bytes(text_));
    server_->end();
    co_await read_to_end(*server_, at_server_, server_end_);
  }
  loop::task<> ask(loop::socket_address address) {
    static const auto with = test_client({.ca = authority().certificate()});
    auto opened = loop_.open_stream(address.family(), 0);
    loop::awaited_request connecting;
    loop_.connect(*opened, address, connecting);
    const int code = co_await connecting;
    if (code != 0) co_return;
    client_ = stream::over(loop_, std::move(*opened));
    std::optional<result<void>> begun;
    co_await begin_tls(*client_, with, "localhost", begun);
    if (!*begun) {
      client_end_ = *begun;
      co_return;
    }
    for (std::size_t at = 0; at < text_.size();) {
      const auto size = std::min<std::size_t>(1 + world_.draw(20'000), text_.size() - at);
      client_->push_copy(as_bytes(text_).subspan(at, size));
      at += size;
      co_await loop_.sleep(loop::duration(world_.draw(100'000)));
    }
    client_->end();
    co_await read_to_end(*client_, at_client_, client_end_);
  }

  loop::sim_world world_;
  loop::loop& loop_;
  std::string text_;
  std::unique_ptr<stream> client_;
  std::unique_ptr<stream> server_;
  std::string at_client_;
  std::string at_server_;
  std::optional<result<void>> client_end_;
  std::optional<result<void>> server_end_;
};

TEST(secured_stream_simulation, short_reads_and_delays_lose_nothing) {
  for_each_seed([](std::uint64_t seed) { unkind_world(seed).run(false); });
}

TEST(secured_stream_simulation, whatever_is_cut_no_end_is_taken_for_the_end) {
  for_each_seed([](std::uint64_t seed) { unkind_world(seed).run(true); });
}

INSTANTIATE_TEST_SUITE_P(backends, secured_stream_test,
                         testing::Values("io_uring", "epoll", "simulation"),
                         [](const auto& backend) { return backend.param; });

}  // namespace
}  // namespace strata::net
