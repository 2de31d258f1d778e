// Proxies with random scripts in a simulated world: while functions wait, clients leave, the script
// is loaded again, and the proxy ends.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "net/listener.hpp"
#include "net/stream.hpp"
#include "runtime/proxy/proxy.hpp"
#include "runtime/testing/random_script.hpp"
#include "runtime/testing/sim_stage.hpp"

namespace strata::runtime {
namespace {

using namespace std::chrono_literals;

constexpr std::uint16_t front_port = 7001;
constexpr std::uint16_t backend_port = 7002;

/// Echoes what it receives, or answers each HTTP head.
class backend_world {
 public:
  backend_world(sim_stage& stage, bool is_http) : loop_(stage.outside), is_http_(is_http) {
    auto opened = loop_.listen(*loop::socket_address::from_ip("127.0.0.1", backend_port), {});
    EXPECT_TRUE(opened);
    listener_ = std::make_unique<net::listener>(loop_, std::move(*opened));
    tasks_.spawn(accept_all());
  }
  void leave() {
    tasks_.cancel();
    listener_.reset();
  }

 private:
  loop::task<> accept_all() {
    for (;;) {
      auto arrived = co_await listener_->accept();
      if (arrived) tasks_.spawn(answer(net::stream::over(loop_, std::move(*arrived))));
    }
  }
  loop::task<> answer(std::unique_ptr<net::stream> stream) {
    std::string said;
    for (;;) {
      const auto got = co_await stream->receive();
      if (!got || got->empty() || stream->broken() != 0) break;
      if (!is_http_) {
        stream->push_copy(got->bytes());
        continue;
      }
      said += as_text(got->bytes());
      for (auto end = said.find("\r\n\r\n"); end != std::string::npos;
           end = said.find("\r\n\r\n")) {
        said.erase(0, end + 4);
        stream->push_copy(as_bytes("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n"));
      }
    }
    stream->end();
    const bool is_sent = co_await stream->flushed(loop::time_point::max());
    (void)is_sent;
  }

  loop::loop& loop_;
  bool is_http_;
  std::unique_ptr<net::listener> listener_;
  loop::task_group tasks_;
};

class life {
 public:
  explicit life(std::uint64_t seed)
      : stage_(seed),
        is_http_(world().chance(0.5)),
        is_kind_(world().chance(0.5)),
        backend_(stage_, is_http_) {
    if (!is_kind_ && world().chance(0.3)) world().faults.reset = 0.01;
    file_.write(script());
    auto made =
        proxy::make(stage_.given(), {{"listen", {"tcp://127.0.0.1:" + std::to_string(front_port)}},
                                     {"backend", {"127.0.0.1:" + std::to_string(backend_port)}},
                                     {"protocol", is_http_ ? "http" : "raw"},
                                     {"max_buffer", 4096 + world().draw(100'000)},
                                     {"threads", 1 + world().draw(2)},
                                     {"lua", file_.path()},
                                     {"lua_time", 10}});
    EXPECT_TRUE(made) << describe(made.error());
    proxy_ = std::move(*made);
    const auto started = stage_.await(proxy_->start());
    EXPECT_TRUE(started) << text_;
    has_started_ = started && *started;  // on_start may fail
  }

  /// The number of lines that its clients have received.
  std::size_t run() {
    for (auto turns = has_started_ ? 5 + world().draw(40) : 0; turns != 0; --turns) act();
    const auto limit = world().now() + std::chrono::milliseconds(world().draw(2000));
    EXPECT_TRUE(stage_.await_done(proxy_->stop(limit))) << text_;
    for (auto& each : clients_) each->is->leave();
    backend_.leave();
    proxy_.reset();
    world().run_for(2s);
    EXPECT_EQ(world().open_count(), 0U) << text_;
    std::size_t received = 0;
    for (const auto& each : clients_) received += each->is->received().size();
    return received;
  }

 private:
  struct client {
    explicit client(loop::loop& loop) : is(std::make_unique<actor>(loop, proto::framing::line)) {}
    std::unique_ptr<actor> is;
    std::vector<std::string> said;
  };

  loop::sim_world& world() { return stage_.world; }

  std::string script() {
    std::vector<std::string> own = {"self.backends()", "self.connections()",
                                    "for _, id in ipairs(self.clients()) do self.peer(id) end",
                                    "strata.shared.add('n', 1)"};
    if (!is_kind_) {
      own.emplace_back("for _, id in ipairs(self.clients()) do self.close_client(id) end");
      own.emplace_back("self.close_client(1)");
    }
    random_script made(world(), own, is_kind_);
    if (world().chance(0.3)) made.add("on_start", "", {});
    if (world().chance(0.3)) made.add("on_stop", "", {});
    if (world().chance(0.5)) made.add("on_connect", "id", {});
    if (world().chance(0.5)) made.add("on_disconnect", "id", {});
    if (is_kind_) {
      if (world().chance(0.5)) made.add("on_route", "request", {"nil", "1"});
      if (!is_http_ && world().chance(0.8)) made.add("on_proxy_request", "id, data", {"data"});
      if (!is_http_ && world().chance(0.5)) made.add("on_proxy_response", "id, data", {"data"});
      if (is_http_) made.add("on_proxy_response_body", "piece", {"nil", "piece"});
    } else {
      if (world().chance(0.5)) {
        made.add("on_route", "request", {"nil", "1", "2", "{status = 403}", "request.path"});
      }
      if (world().chance(0.8)) {
        made.add("on_proxy_request", "a, b",
                 {"nil", "b", "{target = '/x'}", "{status = 418}", "7"});
      }
      if (world().chance(0.8)) {
        made.add("on_proxy_response", "a, b", {"nil", "b", "{body = 'x'}", "{status = 299}"});
      }
      if (world().chance(0.5)) made.add("on_proxy_response_body", "piece", {"nil", "false", "{}"});
    }
    return text_ = made.text();
  }

  void act() {
    switch (world().draw(8)) {
      case 0:
        clients_.push_back(std::make_unique<client>(stage_.outside));
        clients_.back()->is->connect(front_port);
        break;
      case 1:
        if (!clients_.empty() && world().chance(0.5)) {
          clients_[world().draw(clients_.size())]->is->leave();
        }
        break;
      case 2: {
        file_.write(world().chance(0.1) ? "no Lua" : script());
        EXPECT_TRUE(stage_.await(asked(*proxy_, proxy::operation_rows(), "reload-lua"))) << text_;
        break;
      }
      default: speak();
    }
    world().run_for(std::chrono::microseconds(world().draw(30'000)));
    if (is_kind_ && !is_http_) expect_order();
  }

  void speak() {
    if (clients_.empty()) return;
    auto& who = *clients_[world().draw(clients_.size())];
    if (!who.is->connected()) return;
    if (is_http_) {
      who.is->send("GET /a HTTP/1.1\r");
      who.is->send("Host: h\r");
      who.is->send("\r");
    } else {
      who.said.push_back(std::to_string(who.said.size()) + std::string(world().draw(3000), '.'));
      who.is->send(who.said.back());
    }
  }

  // Received data equals the sent data, or a prefix of it.
  void expect_order() {
    for (const auto& each : clients_) {
      const auto& received = each->is->received();
      ASSERT_LE(received.size(), each->said.size()) << text_;
      for (std::size_t at = 0; at < received.size(); ++at) {
        const bool is_last = at + 1 == received.size();
        EXPECT_TRUE(received[at] == each->said[at] ||
                    (is_last && each->said[at].starts_with(received[at])))
            << text_;
      }
    }
  }

  sim_stage stage_;
  bool is_http_;
  bool is_kind_;
  std::string text_;
  script_file file_;
  backend_world backend_;
  std::unique_ptr<runtime> proxy_;
  std::vector<std::unique_ptr<client>> clients_;
  bool has_started_ = false;
};

TEST(proxy_script_simulation, whatever_waits_a_proxy_ends_and_bytes_keep_their_order) {
  std::size_t received = 0;
  std::size_t seeds = 0;
  for_each_seed([&](std::uint64_t seed) {
    received += life(seed).run();
    ++seeds;
  });
  if (seeds > 1) {
    EXPECT_GE(received, seeds);  // some data got through
  }
}

}  // namespace
}  // namespace strata::runtime
