// The proxy in a simulated world: short reads and writes, delays, exhausted buffers, and resets.
// Whatever happens, what one side receives is what the other has sent, or a prefix of it.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "net/listener.hpp"
#include "net/stream.hpp"
#include "runtime/proxy/proxy.hpp"
#include "runtime/testing/sim_stage.hpp"

namespace strata::runtime::proxy {
namespace {

using namespace std::chrono_literals;

constexpr std::uint16_t front_port = 7001;
constexpr std::uint16_t backend_port = 7002;
constexpr std::size_t most_said = 100'000;
constexpr std::size_t name_size = 4;

/// The data that one side of a connection sends: determined by its number.
std::string saying(std::uint64_t number, std::size_t size) {
  std::string text;
  text.reserve(size);
  for (auto state = number * 2 + 1; text.size() < size;) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    text += static_cast<char>(state >> 56U);
  }
  return text;
}

/// One end of a connection: sends its data in pieces, with pauses, and receives the other's.
struct speaker {
  std::string says;
  std::string received;
  bool ends_late = false;  ///< ends only after it has received everything
  bool has_ended = false;  ///< received the end, and sent its own
  bool was_broken = false;
};

class crowd {
 public:
  crowd(sim_stage& stage, std::size_t count) : stage_(stage) {
    for (std::size_t at = 0; at < count; ++at) {
      clients_.push_back(std::make_unique<speaker>());
      clients_.back()->says =
          std::to_string(1000 + at) + saying(2 * at, stage_.world.draw(most_said));
      clients_.back()->ends_late = stage_.world.chance(0.5);
    }
  }

  void open_backend() {
    auto opened =
        stage_.outside.listen(*loop::socket_address::from_ip("127.0.0.1", backend_port), {});
    ASSERT_TRUE(opened);
    listener_ = std::make_unique<net::listener>(stage_.outside, std::move(*opened));
    tasks_.spawn(accept_all());
  }
  void connect_all() {
    for (auto& each : clients_) tasks_.spawn(connect(*each));
  }
  [[nodiscard]] bool is_done() const {
    const auto is_over = [](const auto& each) { return each->has_ended || each->was_broken; };
    return std::ranges::all_of(clients_, is_over) && std::ranges::all_of(backends_, is_over);
  }
  void leave() {
    tasks_.cancel();
    listener_.reset();
  }

  /// Checks that each has received a prefix of what the other has sent; all of it, if nothing was
  /// broken. Returns the number of complete pairs.
  [[nodiscard]] std::size_t compare(bool may_be_cut) const {
    std::size_t whole = 0;
    std::map<std::string, const speaker*> by_name;
    for (const auto& each : clients_) by_name[each->says.substr(0, name_size)] = each.get();
    for (const auto& each : backends_) {
      if (each->received.size() < name_size) continue;
      const auto found = by_name.find(each->received.substr(0, name_size));
      if (found == by_name.end()) {
        ADD_FAILURE() << "a name that no client has";
        continue;
      }
      const auto& client = *found->second;
      EXPECT_TRUE(client.says.starts_with(each->received));
      EXPECT_TRUE(each->says.starts_with(client.received));
      if (may_be_cut || client.was_broken || each->was_broken) continue;
      EXPECT_EQ(each->received.size(), client.says.size());
      EXPECT_EQ(client.received.size(), each->says.size());
      ++whole;
    }
    return whole;
  }

 private:
  loop::task<> accept_all() {
    for (;;) {
      auto arrived = co_await listener_->accept();
      if (!arrived) continue;
      auto& made = *backends_.emplace_back(std::make_unique<speaker>());
      made.says = saying(2 * backends_.size() + 1, stage_.world.draw(most_said));
      made.ends_late = stage_.world.chance(0.5);
      tasks_.spawn(live(made, net::stream::over(stage_.outside, std::move(*arrived))));
    }
  }

  loop::task<> connect(speaker& speaker) {
    auto opened = stage_.outside.open_stream(AF_INET, 0);
    loop::awaited_request connecting;
    const auto to = *loop::socket_address::from_ip("127.0.0.1", front_port);
    stage_.outside.connect(*opened, to, connecting);
    const int code = co_await connecting;
    speaker.was_broken = code != 0;
    if (code == 0) co_await live(speaker, net::stream::over(stage_.outside, std::move(*opened)));
  }

  loop::task<> live(speaker& speaker, std::unique_ptr<net::stream> stream) {
    loop::task_group saying_it;
    if (!speaker.ends_late) saying_it.spawn(say(speaker, *stream));
    // The name is sent first, to identify the other end.
    if (speaker.ends_late) stream->push_copy(as_bytes(speaker.says.substr(0, name_size)));
    for (bool goes_on = true; goes_on;) {
      const auto got = co_await stream->receive();
      if (!got || stream->broken() != 0) {
        speaker.was_broken = true;
        co_return;
      }
      goes_on = !got->empty();
      speaker.received += as_text(got->bytes());
    }
    if (speaker.ends_late) {
      stream->push_copy(as_bytes(speaker.says).subspan(std::min(name_size, speaker.says.size())));
      stream->end();
    } else {
      co_await saying_it.drained();
    }
    const bool is_sent = co_await stream->flushed(loop::time_point::max());
    speaker.was_broken = !is_sent || stream->broken() != 0;
    speaker.has_ended = true;
  }

  loop::task<> say(speaker& speaker, net::stream& stream) {
    for (std::size_t at = 0; at < speaker.says.size();) {
      const auto size =
          std::min<std::size_t>(1 + stage_.world.draw(20'000), speaker.says.size() - at);
      stream.push_copy(as_bytes(speaker.says).subspan(at, size));
      at += size;
      if (stage_.world.chance(0.3)) {
        co_await stage_.outside.sleep(std::chrono::milliseconds(stage_.world.draw(20)));
      }
    }
    stream.end();
  }

  sim_stage& stage_;
  std::unique_ptr<net::listener> listener_;
  std::vector<std::unique_ptr<speaker>> clients_;
  std::vector<std::unique_ptr<speaker>> backends_;
  loop::task_group tasks_;
};

// If both ends are late, they wait for each other until the proxy's idle limit ends them.
std::size_t run_crowd(std::uint64_t seed, double reset) {
  sim_stage stage(seed);
  stage.world.faults.reset = reset;
  auto made = make(stage.given(), {{"listen", {"tcp://127.0.0.1:" + std::to_string(front_port)}},
                                   {"backend", {"127.0.0.1:" + std::to_string(backend_port)}},
                                   {"max_buffer", 4096 + stage.world.draw(100'000)},
                                   {"threads", 1 + stage.world.draw(2)},
                                   {"idle_timeout", 2}});
  EXPECT_TRUE(made) << describe(made.error());
  const auto started = stage.await((*made)->start());
  EXPECT_TRUE(started && *started);
  crowd all(stage, 6);
  all.open_backend();
  all.connect_all();
  EXPECT_TRUE(stage.world.run_until([&] { return all.is_done(); }, 60s));
  // A simulated connection cannot be reset by its owner: a broken one ends normally.
  const auto whole = all.compare(reset != 0);
  EXPECT_TRUE(stage.await_done((*made)->stop(stage.world.now() + 1s)));
  all.leave();
  made->reset();
  stage.world.run_for(1s);
  EXPECT_EQ(stage.world.open_count(), 0U);
  return whole;
}

TEST(proxy_simulation, what_one_side_says_the_other_hears) {
  std::size_t whole = 0;
  std::size_t seeds = 0;
  for_each_seed([&](std::uint64_t seed) {
    whole += run_crowd(seed, 0);
    ++seeds;
  });
  EXPECT_GE(whole, 2 * seeds);  // of six per seed, of which one in four waits for ever
}

TEST(proxy_simulation, a_connection_that_breaks_ends_both_and_mixes_nothing_up) {
  for_each_seed([](std::uint64_t seed) { (void)run_crowd(seed, 0.01); });
}

}  // namespace
}  // namespace strata::runtime::proxy
