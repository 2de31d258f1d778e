// A server and its clients, raw ones and WebSockets, plain and with TLS, in a simulated world, seed
// by seed: short reads, delays, resets, full buffers, connections that die at any point.
//
// Every message is "SENDER:NUMBER:filler", so that each receiver can detect messages that are
// missing, duplicated, out of order or foreign.
#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "net/testing/certificates.hpp"
#include "runtime/server/server.hpp"
#include "runtime/testing/sim_stage.hpp"

namespace strata::runtime::server {
namespace {

using namespace std::chrono_literals;

constexpr std::uint16_t port = 7000;

struct parsed {
  std::size_t sender = 0;
  std::size_t number = 0;
};

std::string compose(std::size_t sender, std::size_t number, std::size_t filler) {
  return std::to_string(sender) + ":" + std::to_string(number) + ":" + std::string(filler, '.');
}

std::optional<parsed> read(const std::string& text) {
  parsed got;
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, got.sender);
  if (first.ec != std::errc{} || first.ptr == end || *first.ptr != ':') return {};
  const auto second = std::from_chars(first.ptr + 1, end, got.number);
  if (second.ec != std::errc{} || second.ptr == end || *second.ptr != ':') return {};
  const std::string_view rest(second.ptr + 1, static_cast<std::size_t>(end - second.ptr - 1));
  if (rest.find_first_not_of('.') != std::string_view::npos) return {};
  return got;
}

/// What a server and its clients need for TLS.
struct tls_kit {
  net::test_authority authority;
  net::tls_key_pair own = authority.issue({"localhost"});
  std::shared_ptr<const net::tls_context> client =
      net::test_client({.ca = authority.certificate()});
};

const tls_kit& shared_tls_kit() {
  static const tls_kit kit;
  return kit;
}

class crowd {
 public:
  crowd(std::uint64_t seed, nlohmann::json options) : stage_(seed) {
    auto& world = stage_.world;
    const char* const framings[] = {"line", "length"};
    const auto* const framing = framings[world.draw(2)];
    framing_ = proto::framing_of(framing);
    options["listen"] = {"tcp://127.0.0.1:" + std::to_string(port)};
    options["framing"] = framing;
    options["threads"] = 1 + world.draw(3);
    // Handshakes take more time than everything else: one world in eight uses TLS.
    if (seed % 8 == 0) {
      tls_ = shared_tls_kit().client;
      options["cert"] = {shared_tls_kit().own.certificate};
      options["key"] = {shared_tls_kit().own.key};
    }
    auto made = make(stage_.given(), options);
    EXPECT_TRUE(made) << describe(made.error());
    server_ = std::move(*made);
    const auto started = stage_.await(server_->start());
    EXPECT_TRUE(started && *started) << "start";
  }

  [[nodiscard]] loop::sim_world& world() { return stage_.world; }
  [[nodiscard]] runtime& server() { return *server_; }
  [[nodiscard]] sim_stage& stage() { return stage_; }
  [[nodiscard]] std::vector<std::unique_ptr<actor>>& actors() { return actors_; }

  void add(std::size_t count, bool reads = true) {
    const auto expected = server_->stats().connections_now.get() + count;
    for (std::size_t i = 0; i < count; ++i) {
      actors_.push_back(
          std::make_unique<actor>(stage_.outside, framing_, draw_voice(reads), draw_security()));
      actors_.back()->connect(port, reads);
    }
    EXPECT_TRUE(world().run_until(
        [&] {
          return server_->stats().connections_now.get() >= expected &&
                 std::ranges::all_of(actors_, &actor::connected,
                                     &std::unique_ptr<actor>::operator*);
        },
        10s))
        << "connections were not accepted";
  }

  /// The TLS context of one more client, or null.
  [[nodiscard]] std::shared_ptr<const net::tls_context> draw_security() {
    return tls_ && world().chance(0.5) ? tls_ : nullptr;
  }

  /// Each of the first `senders` sends `count` messages, interleaved.
  void talk(std::size_t senders, std::size_t count, std::size_t largest) {
    sent_.resize(actors_.size());
    for (std::size_t round = 0; round < count; ++round) {
      for (std::size_t i = 0; i < senders; ++i) {
        actors_[i]->send(compose(i, sent_[i]++, world().draw(largest)));
      }
      if (world().chance(0.3)) world().run_for(loop::duration(world().draw(3'000'000)));
    }
  }

  /// Checks what `index` received: known senders, each in order, no duplicates, nothing of its own.
  void check_sense(std::size_t index) {
    std::map<std::size_t, std::size_t> next;
    for (const auto& text : actors_[index]->received()) {
      const auto message = read(text);
      ASSERT_TRUE(message) << "actor " << index << " heard what nobody said: '" << text << "'";
      ASSERT_NE(message->sender, index) << "it heard itself";
      ASSERT_LT(message->sender, sent_.size());
      ASSERT_GE(message->number, next[message->sender]) << "twice, or out of order";
      ASSERT_LT(message->number, sent_[message->sender]);
      next[message->sender] = message->number + 1;
    }
  }
  [[nodiscard]] std::size_t heard_from(std::size_t index, std::size_t sender) const {
    std::size_t count = 0;
    for (const auto& text : actors_[index]->received()) {
      const auto message = read(text);
      if (message && message->sender == sender) ++count;
    }
    return count;
  }
  /// Whether `index` has received everything that the first `senders` sent.
  [[nodiscard]] bool heard_all(std::size_t index, std::size_t senders) const {
    std::size_t expected = 0;
    for (std::size_t i = 0; i < senders; ++i) expected += i == index ? 0 : sent_[i];
    return actors_[index]->received().size() >= expected;
  }
  [[nodiscard]] std::size_t sent(std::size_t index) const { return sent_[index]; }

  void finish() {
    EXPECT_TRUE(stage_.await_done(server_->stop())) << "the server did not stop";
    EXPECT_EQ(server_->stats().connections_now.get(), 0U);
    server_.reset();
    for (auto& each : actors_) each->leave();
    stage_.world.run_for(1s);
    EXPECT_EQ(stage_.world.open_count(), 0U) << "descriptors leaked";
  }

 private:
  // Raw members and WebSockets on one port. A client that does not read is not compressed: its
  // queue would stay too small to matter.
  actor::voice draw_voice(bool reads) {
    return static_cast<actor::voice>(world().draw(reads ? 3 : 2));
  }

  sim_stage stage_;
  std::shared_ptr<const net::tls_context> tls_;  // null: no client uses TLS
  proto::framing framing_ = proto::framing::line;
  std::unique_ptr<runtime> server_;
  std::vector<std::unique_ptr<actor>> actors_;
  std::vector<std::size_t> sent_;
};

TEST(server_simulation, everyone_hears_all_others_once_and_in_order) {
  for_each_seed([](std::uint64_t seed) {
    crowd all(seed, {});
    const auto count = 2 + all.world().draw(4);
    all.add(count);
    all.talk(count, 1 + all.world().draw(12), 600);
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_TRUE(all.world().run_until([&] { return all.heard_all(i, count); }, 60s))
          << "actor " << i << " heard only " << all.actors()[i]->received().size();
      all.check_sense(i);
    }
    const auto stats = all.server().stats();
    std::size_t total = 0;
    for (std::size_t i = 0; i < count; ++i) total += all.sent(i);
    EXPECT_EQ(stats.messages_in.get(), total);
    EXPECT_EQ(stats.messages_out.get(), total * (count - 1));
    all.finish();
  });
}

TEST(server_simulation, those_whose_connections_live_miss_nothing_when_others_die) {
  for_each_seed([](std::uint64_t seed) {
    crowd all(seed, {});
    const auto count = 3 + all.world().draw(3);
    all.add(count);
    all.world().faults.reset = 0.01;
    all.talk(count, 8, 300);
    all.world().run_for(20s);
    for (std::size_t i = 0; i < count; ++i) all.check_sense(i);
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t j = 0; j < count; ++j) {
        const bool both_live = all.actors()[i]->connected() && all.actors()[j]->connected();
        if (i == j || !both_live) continue;
        EXPECT_EQ(all.heard_from(i, j), all.sent(j)) << i << " from " << j;
      }
    }
    all.finish();
  });
}

TEST(server_simulation, stopping_at_any_moment_leaks_nothing) {
  for_each_seed([](std::uint64_t seed) {
    crowd all(seed, {{"drain", seed % 2 == 0}, {"drain_timeout", 0.5}});
    all.world().faults.reset = 0.005;
    all.world().faults.accept_failure = 0.05;
    for (std::size_t i = 0; i < 4; ++i) {
      all.actors().push_back(std::make_unique<actor>(all.stage().outside, proto::framing::line,
                                                     static_cast<actor::voice>(i % 3),
                                                     all.draw_security()));
      all.actors().back()->connect(port);
    }
    for (int i = 0; i < 3; ++i) {
      for (auto& each : all.actors()) each->send("hello");
      all.world().run_for(loop::duration(all.world().draw(4'000'000)));
      if (all.world().chance(0.3)) all.actors()[all.world().draw(4)]->leave();
    }
    all.finish();
  });
}

// Not at random but step by step: at each point where the server waits, a client dies, or the
// server is stopped.
TEST(server_simulation, at_every_single_step_a_client_may_die_or_the_server_stop) {
  for (int step = 0; step < 150; ++step) {
    SCOPED_TRACE("step " + std::to_string(step));
    for (const bool stops : {false, true}) {
      crowd all(static_cast<std::uint64_t>(step) / 10 + 1, {});
      all.add(3);
      all.talk(3, 2, 200);
      int passed = 0;
      all.world().run_until([&] { return passed++ == step; }, 10s);
      if (!stops) {
        all.actors()[0]->leave();
        EXPECT_TRUE(all.world().run_until(
            [&] { return all.heard_from(1, 2) == 2 && all.heard_from(2, 1) == 2; }, 10s));
      }
      all.finish();
      if (HasFailure()) return;
    }
  }
}

TEST(server_simulation, one_who_never_reads_harms_no_other) {
  for_each_seed([](std::uint64_t seed) {
    const bool drops = seed % 2 == 0;
    crowd all(seed, {{"max_buffer", 2048}, {"slow_client", drops ? "drop" : "disconnect"}});
    // Only the network slows the readers; their queues stay below the limit.
    all.world().faults.max_delay = 100us;
    all.world().faults.short_write = 0;
    all.add(2);
    all.add(1, false);
    for (int i = 0; i < 40; ++i) {
      all.talk(1, 1, 500);
      EXPECT_TRUE(all.world().run_until([&] { return all.heard_all(1, 1); }, 10s));
    }
    all.check_sense(1);
    const auto slow = [&] {
      return all.server().stats().dropped[static_cast<std::size_t>(drop::slow_client)].get();
    };
    EXPECT_GT(slow(), 0U);
    EXPECT_TRUE(all.world().run_until(
        [&] { return all.server().stats().connections_now.get() == (drops ? 3U : 2U); }, 10s));
    all.finish();
  });
}

}  // namespace
}  // namespace strata::runtime::server
