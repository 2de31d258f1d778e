// Tests two endpoints joined by memory, over a wire with configurable faults, in virtual time. Each
// run prints its seed; STRATA_SEED=… repeats it. STRATA_IPC_MESSAGES=1000000 makes the long run of
// the acknowledged mode as long as issue 3 requires.
#include "ipc/port.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <random>

#include "strata/l2/decorators/fake_device.hpp"
#include "strata/l2/decorators/fault_injector.hpp"

namespace strata::ipc {
namespace {

using namespace std::chrono_literals;

std::uint64_t number_from(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

std::uint64_t seed_of_run() {
  const auto seed = number_from("STRATA_SEED", 1);
  std::cout << "STRATA_SEED=" << seed << '\n';
  return seed;
}

constexpr channel_config acknowledged{
    .interface_name = {}, .channel = "test", .acknowledged = true, .peer_timeout = 1000ms};
constexpr channel_config plain{.interface_name = {}, .channel = "test"};

/// Makes messages that are determined by their number: the size, and bytes taken from one random
/// text.
class message_maker {
 public:
  message_maker(std::uint64_t seed, std::size_t largest) : seed_(seed), largest_(largest) {
    std::mt19937_64 random(seed);
    text_.resize(2 * largest + 4096);
    for (auto& each : text_) each = static_cast<std::byte>(random());
  }
  [[nodiscard]] byte_span operator()(std::uint64_t number) const {
    std::uint64_t hash = (number + 1) * 0x9E3779B97F4A7C15ULL ^ seed_;
    hash = (hash ^ hash >> 31U) * 0xBF58476D1CE4E5B9ULL;
    const auto size = (hash >> 32U) % (largest_ + 1);
    return byte_span(text_).subspan(hash % (largest_ + 4096), size);
  }

 private:
  std::uint64_t seed_;
  std::size_t largest_;
  std::vector<std::byte> text_;
};

bool are_equal(byte_span one, byte_span other) {
  return one.size() == other.size() &&
         (one.empty() || std::memcmp(one.data(), other.data(), one.size()) == 0);
}

class ipc_port_test : public testing::Test {
 protected:
  void join(const channel_config& config, std::uint32_t mtu, const l2::faults& faults,
            std::uint64_t seed) {
    auto made = l2::fake_device::make_pair(mtu, 100'000);
    devices_ = {made.first.get(), made.second.get()};
    for (const int end : {0, 1}) {
      auto there = faults;
      there.seed = seed * 2 + static_cast<std::uint64_t>(end);
      auto wire = std::make_unique<l2::fault_injector>(
          end == 0 ? std::move(made.first) : std::move(made.second), there);
      wires_[end] = wire.get();
      ends_[end] = open(config, std::move(wire), seed * 1000 + static_cast<std::uint64_t>(end) + 1);
    }
  }
  std::unique_ptr<port> open(const channel_config& config, std::unique_ptr<l2::device> device,
                             std::uint64_t endpoint) {
    auto made = port::create(config, std::move(device), endpoint, 4U << 20U, now_);
    if (!made) throw std::runtime_error(describe(made.error()));
    return std::move(*made);
  }
  /// Advances the time by 100 us.
  void step() {
    now_ += 100us;
    for (auto& each : ends_) {
      if (each != nullptr) {
        ASSERT_TRUE(each->turn(now_));
      }
    }
  }
  void wait_for_pair() {
    for (int i = 0; i < 50'000 && !(ends_[0]->has_peer() && ends_[1]->has_peer()); ++i) step();
    ASSERT_TRUE(ends_[0]->has_peer() && ends_[1]->has_peer());
  }
  /// Sends `count` messages each way at once, and checks that all arrive, once and in order.
  void exchange(std::uint64_t count, std::size_t largest, std::uint64_t seed, bool both_ways) {
    const message_maker make(seed, largest);
    std::array<std::uint64_t, 2> sent{};
    std::array<std::uint64_t, 2> received{};
    const std::array<std::uint64_t, 2> wanted{count, both_ways ? count : 0};
    std::uint64_t idle = 0;
    while (received[1] < wanted[0] || received[0] < wanted[1]) {
      bool moved = false;
      for (const std::size_t end : {0U, 1U}) {
        auto& port = *ends_[end];
        while (sent[end] < wanted[end]) {
          const auto taken = port.post(make(sent[end] * 2 + end), false, now_);
          ASSERT_TRUE(taken) << describe(taken.error());
          if (!*taken) break;
          ++sent[end];
        }
        for (;;) {
          const auto found = port.next(now_);
          ASSERT_TRUE(found) << describe(found.error());
          if (!*found) break;
          ASSERT_TRUE(are_equal((*found)->bytes, make(received[end] * 2 + (1 - end))))
              << "message " << received[end] << " of end " << 1 - end;
          ++received[end];
          moved = true;
        }
      }
      idle = moved ? 0 : idle + 1;
      ASSERT_LT(idle, 1'000'000U) << "nothing moves";
      step();
    }
    for (int i = 0; i < 100'000 && !(ends_[0]->is_finished() && ends_[1]->is_finished()); ++i) {
      step();
    }
    EXPECT_TRUE(ends_[0]->is_finished());
    for (auto& each : ends_) {
      const auto more = each->next(now_);
      ASSERT_TRUE(more) << describe(more.error());
      EXPECT_FALSE(*more) << "something came twice";
    }
  }

  ipc_time now_ = ipc_time{} + 1h;
  std::array<l2::fake_device*, 2> devices_{};
  std::array<l2::fault_injector*, 2> wires_{};
  std::array<std::unique_ptr<port>, 2> ends_;
};

TEST_F(ipc_port_test, a_clean_wire_needs_nothing_twice) {
  join(acknowledged, 1500, {}, 1);
  wait_for_pair();
  exchange(2000, 20000, 1, true);
  EXPECT_EQ(ends_[0]->statistics().retransmitted, 0U);
  EXPECT_EQ(ends_[1]->statistics().duplicates, 0U);
}

class bad_wire_test : public ipc_port_test, public testing::WithParamInterface<double> {};

TEST_P(bad_wire_test, all_arrive_once_and_in_order) {
  const auto seed = seed_of_run();
  const auto count = number_from("STRATA_IPC_MESSAGES", 5000);
  join(acknowledged, wire::max_mtu,
       {.loss = GetParam(), .duplication = 0.05, .corruption = 0.01, .reordering = 0.05}, seed);
  exchange(count, 65536, seed, false);
  const auto counted = ends_[0]->statistics();
  EXPECT_GT(wires_[0]->done().lost, 0U);
  std::cout << count << " messages, " << GetParam() * 100 << " % loss: " << counted.frames_sent
            << " frames, " << counted.retransmitted << " again, virtual time "
            << std::chrono::duration<double>(now_.time_since_epoch() - 1h).count() << " s\n";
}

TEST_P(bad_wire_test, small_frames_and_both_ways_too) {
  const auto seed = seed_of_run();
  // The injector holds frames until later ones pass, and few pass near the end.
  auto patient = acknowledged;
  patient.peer_timeout = 10s;
  for (std::uint64_t each = seed; each < seed + 5; ++each) {
    join(patient, 1500,
         {.loss = GetParam(),
          .duplication = 0.1,
          .corruption = 0.02,
          .reordering = 0.1,
          .delay = 0.02},
         each);
    exchange(300, 30000, each, true);
    if (HasFailure()) break;
  }
}

INSTANTIATE_TEST_SUITE_P(loss, bad_wire_test, testing::Values(0.01, 0.05, 0.2));

TEST_F(ipc_port_test, a_receiver_that_does_not_read_stops_the_sender) {
  join(acknowledged, 65535, {}, 1);
  wait_for_pair();
  const std::vector<std::byte> message(60000, std::byte{1});
  std::uint64_t sent = 0;
  for (int i = 0; i < 20'000; ++i) {
    const auto taken = ends_[0]->post(message, false, now_);
    ASSERT_TRUE(taken);
    sent += *taken ? 1 : 0;
    step();  // reads frames and acknowledges them, but takes no messages
  }
  EXPECT_LT(sent * message.size(), 9U << 20U);
  EXPECT_TRUE(ends_[0]->has_peer()) << "it answers, so it lives";
  std::uint64_t received = 0;
  for (int i = 0; i < 10'000 && received < sent; ++i) {
    while (*ends_[1]->next(now_)) ++received;
    step();
  }
  EXPECT_EQ(received, sent);
}

TEST_F(ipc_port_test, a_silent_peer_is_given_up_and_what_it_did_not_get_is_said) {
  join(acknowledged, 1500, {}, 1);
  wait_for_pair();
  const std::vector<std::byte> message(100);
  ends_[1].reset();  // no farewell: as if killed
  for (int i = 0; i < 7; ++i) {
    const auto posted = ends_[0]->post(message, false, now_);
    if (!posted) ADD_FAILURE() << describe(posted.error());
  }
  // The other device is destroyed with it, which a wire would not report.
  std::optional<error> reported;
  for (int i = 0; i < 100'000 && !reported; ++i) {
    now_ += 100us;
    std::ignore = ends_[0]->turn(now_);
    auto found = ends_[0]->next(now_);
    if (!found && found.error().code == errc::connection_closed) reported = found.error();
  }
  ASSERT_TRUE(reported);
  EXPECT_NE(reported->reason.find("the last 7 messages"), std::string::npos) << describe(*reported);
  EXPECT_FALSE(ends_[0]->has_peer());
}

/// A wire with any number of ends: all others receive what one sends.
class hub_device final : public l2::device {
 public:
  explicit hub_device(std::vector<hub_device*>& all) : all_(all) { all_.push_back(this); }
  ~hub_device() override { std::erase(all_, this); }
  [[nodiscard]] const l2::interface& link() const override { return link_; }
  void update_link(const l2::interface& interface) override { link_ = interface; }
  [[nodiscard]] int fd() const override { return -1; }
  void take_at_most(std::size_t size) { most_ = size; }
  [[nodiscard]] result<std::size_t> try_send(std::span<const byte_span> frames) override {
    for (const auto& frame : frames) {
      for (auto* each : all_) {
        if (each == this || frame.size() > each->most_) continue;
        each->waiting_.emplace_back(frame.begin(), frame.end());
      }
    }
    return frames.size();
  }
  [[nodiscard]] result<std::size_t> try_receive(std::span<l2::frame_slot> slots) override {
    std::size_t filled = 0;
    for (; filled < slots.size() && !waiting_.empty(); ++filled) {
      const auto memory = slots[filled].memory.first(waiting_.front().size());
      std::ranges::copy(waiting_.front(), memory.begin());
      slots[filled].frame = {.bytes = memory, .wire_size = memory.size()};
      waiting_.pop_front();
    }
    return filled;
  }

 private:
  std::vector<hub_device*>& all_;
  l2::interface link_{.name = "hub", .index = 1, .mac = {}, .mtu = 1500};
  std::deque<std::vector<std::byte>> waiting_;
  std::size_t most_ = 2000;
};

class hub_test : public ipc_port_test {
 protected:
  std::unique_ptr<port> plug(const channel_config& config, std::uint64_t endpoint) {
    return open(config, std::make_unique<hub_device>(hub_), endpoint);
  }
  static bool post(port& port, std::string_view text, ipc_time now) {
    return port.post(as_bytes(text), false, now).value_or(false);
  }
  std::string receive(port& port) {
    const auto found = port.next(now_);
    if (!found) return "(" + std::string(name_of(found.error().code)) + ")";
    return *found ? std::string(as_text((*found)->bytes)) : "(nothing)";
  }
  void pass(std::chrono::milliseconds time, std::initializer_list<port*> ports) {
    for (const auto end = now_ + time; now_ < end; now_ += 1ms) {
      for (auto* each : ports) ASSERT_TRUE(each->turn(now_));
    }
  }

  std::vector<hub_device*> hub_;
};

TEST_F(hub_test, a_third_endpoint_is_refused_and_told_so) {
  auto a = plug(acknowledged, 1);
  auto b = plug(acknowledged, 2);
  auto c = plug(acknowledged, 3);
  pass(1900ms, {a.get(), b.get(), c.get()});
  std::vector<port*> paired;
  port* third = nullptr;
  for (auto* each : {a.get(), b.get(), c.get()}) {
    if (each->has_peer())
      paired.push_back(each);
    else
      third = each;
  }
  ASSERT_EQ(paired.size(), 2U);
  ASSERT_NE(third, nullptr);
  EXPECT_TRUE(third->is_refused());
  pass(1000ms, {a.get(), b.get(), c.get()});
  EXPECT_EQ(receive(*third), "(conflict)");
  ASSERT_TRUE(post(*paired[0], "between us", now_));
  pass(5ms, {a.get(), b.get(), c.get()});
  EXPECT_EQ(receive(*paired[1]), "between us");
  EXPECT_EQ(receive(*third), "(nothing)");
  EXPECT_GT(paired[0]->statistics().refused, 0U);
}

TEST_F(hub_test, a_peer_that_starts_anew_is_noticed_and_found_again) {
  auto a = plug(acknowledged, 1);
  auto b = plug(acknowledged, 2);
  pass(100ms, {a.get(), b.get()});
  ASSERT_TRUE(a->has_peer());
  b.reset();  // no farewell
  b = plug(acknowledged, 3);
  ASSERT_TRUE(post(*a, "lost", now_));
  ASSERT_TRUE(post(*b, "new", now_));
  pass(1500ms, {a.get(), b.get()});
  EXPECT_EQ(receive(*b), "(nothing)") << "not even what the old one was sent";
  EXPECT_EQ(receive(*a), "(connection_closed)");
  pass(300ms, {a.get(), b.get()});
  EXPECT_EQ(receive(*a), "new");
  ASSERT_TRUE(post(*a, "again", now_));
  pass(5ms, {a.get(), b.get()});
  EXPECT_EQ(receive(*b), "again");
}

TEST_F(hub_test, a_farewell_is_heard_at_once_and_after_all_that_came) {
  auto a = plug(acknowledged, 1);
  auto b = plug(acknowledged, 2);
  pass(100ms, {a.get(), b.get()});
  ASSERT_TRUE(post(*b, "one", now_));
  ASSERT_TRUE(post(*b, "two", now_));
  b->close(now_);
  EXPECT_EQ(receive(*a), "one");
  EXPECT_EQ(receive(*a), "two");
  EXPECT_EQ(receive(*a), "(connection_closed)");
  EXPECT_EQ(receive(*a), "(nothing)");
}

TEST_F(hub_test, a_message_above_the_receivers_limit_is_an_error) {
  auto small = acknowledged;
  small.max_message = 1000;
  auto a = plug(acknowledged, 1);
  auto b = plug(small, 2);
  pass(100ms, {a.get(), b.get()});
  const std::vector<std::byte> large(5000);
  ASSERT_TRUE(a->post(large, false, now_).value());
  ASSERT_TRUE(post(*a, "small", now_));
  pass(10ms, {a.get(), b.get()});
  EXPECT_EQ(receive(*b), "(limit_exceeded)");
  EXPECT_EQ(receive(*b), "small");
}

TEST_F(hub_test, a_frame_that_the_peer_cannot_take_ends_the_pair) {
  auto a = plug(acknowledged, 1);
  auto b = plug(acknowledged, 2);
  pass(100ms, {a.get(), b.get()});
  hub_[1]->take_at_most(1000);  // as with a smaller MTU
  ASSERT_TRUE(a->post(std::vector<std::byte>(1200), false, now_).value());
  for (int i = 0; i < 120 && a->has_peer(); ++i) pass(1000ms, {a.get(), b.get()});
  const auto reported = a->next(now_);
  ASSERT_FALSE(reported);
  EXPECT_EQ(reported.error().code, errc::connection_closed);
  EXPECT_NE(describe(reported.error()).find("MTU"), std::string::npos)
      << describe(reported.error());
}

TEST_F(hub_test, other_channels_and_modes_are_not_heard) {
  auto other = acknowledged;
  other.channel = "other";
  auto a = plug(acknowledged, 1);
  auto b = plug(other, 2);
  auto c = plug(plain, 3);
  ASSERT_TRUE(post(*c, "plain", now_));
  pass(500ms, {a.get(), b.get(), c.get()});
  for (auto* each : {a.get(), b.get(), c.get()}) {
    EXPECT_FALSE(each->has_peer());
    EXPECT_EQ(receive(*each), "(nothing)");
  }
  EXPECT_EQ(b->statistics().frames_received, 0U) << "told apart by the address already";
}

TEST_F(ipc_port_test, without_acknowledgement_every_loss_is_counted_and_nothing_comes_twice) {
  const auto seed = seed_of_run();
  join(plain, 1500, {.loss = 0.1, .duplication = 0.1, .corruption = 0.02, .reordering = 0.1}, seed);
  const message_maker make(seed, 5000);
  constexpr std::uint64_t count = 20'000;
  // Messages before the first received one do not count as lost: begin when an end has received
  // one.
  std::uint64_t received = 0;
  std::uint64_t first = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    ASSERT_TRUE(ends_[0]->post(make(i), i % 3 != 0, now_).value());
    now_ += 100us;
    ASSERT_TRUE(ends_[0]->turn(now_));
    while (*ends_[1]->next(now_)) {
      if (received++ == 0) first = i;
    }
  }
  now_ += 2s;  // incomplete messages are given up
  wires_[0]->flush().value();
  ASSERT_TRUE(ends_[0]->post({}, false, now_).value());
  while (*ends_[1]->next(now_)) ++received;
  const auto counted = ends_[1]->statistics();
  EXPECT_EQ(counted.messages_received, received);
  EXPECT_GT(counted.duplicates, 0U);
  EXPECT_GT(counted.refused, 0U) << "damaged";
  EXPECT_GT(counted.messages_lost, count / 10);
  // Losses at the edges are not counted: before the first message, and the last ones.
  EXPECT_NEAR(static_cast<double>(received + counted.messages_lost), static_cast<double>(count),
              static_cast<double>(first) + 60);
}

TEST_F(ipc_port_test, bounds_on_partial_messages_hold) {
  auto config = plain;
  config.max_partial_messages = 4;
  config.max_message = 100'000;
  join(config, 1500, {}, 1);
  // An endpoint receives only the first fragments of many messages of many senders.
  std::vector<std::byte> frame(wire::ethernet_header_size + 1500);
  const wire::ipc_fragment piece{
      .first = 10, .total = 2 * 1428, .count = 2, .piece = byte_span(frame).first(1428)};
  const auto channel = wire::ipc_channel_id("test");
  for (std::uint64_t sender = 100; sender < 300; ++sender) {
    const auto payload = mutable_byte_span(frame).subspan(wire::ethernet_header_size);
    const auto built =
        wire::build_simple_frame_into(frame, ipc_group(channel), ipc_source(sender), 0xAAAA, {});
    ASSERT_TRUE(built);
    std::ignore = piece.write(payload.subspan(wire::ipc_header_size));
    wire::seal_ipc_frame(
        payload,
        {.kind = wire::ipc_kind::fragment, .channel = channel, .sender = sender, .sequence = 10});
    ASSERT_TRUE(send_frame(*devices_[0], frame));
    EXPECT_FALSE(*ends_[1]->next(now_));
  }
  EXPECT_EQ(ends_[1]->statistics().abandoned, 196U);
  now_ += 2s;
  EXPECT_FALSE(*ends_[1]->next(now_));
  EXPECT_EQ(ends_[1]->statistics().abandoned, 200U);
  EXPECT_EQ(ends_[1]->statistics().messages_lost, 200U);
}

TEST_F(ipc_port_test, random_frames_harm_nobody) {
  const auto seed = seed_of_run();
  std::mt19937_64 random(seed);
  for (const auto& config : {plain, acknowledged}) {
    join(config, 1500, {}, seed);
    if (config.acknowledged) wait_for_pair();
    const auto channel = wire::ipc_channel_id("test");
    const auto pick = [&](std::initializer_list<std::uint64_t> list) {
      return list.begin()[random() % list.size()];
    };
    std::vector<std::byte> frame(1514);
    for (int i = 0; i < 20'000; ++i) {
      const auto size = random() % 1400;
      ASSERT_TRUE(
          wire::build_simple_frame_into(frame, ipc_group(channel), ipc_source(99), 0xAAAA, {}));
      const auto payload = mutable_byte_span(frame).subspan(wire::ethernet_header_size);
      for (std::size_t at = 0; at < size; ++at) {
        payload[wire::ipc_header_size + at] =
            random() % 4 == 0 ? static_cast<std::byte>(random()) : std::byte{0};
      }
      wire::seal_ipc_frame(payload.first(wire::ipc_header_size + size),
                           {.kind = static_cast<wire::ipc_kind>(1 + random() % 7),
                            .acknowledged = config.acknowledged,
                            .channel = channel,
                            .sender = pick({ends_[1]->id(), random(), 77}),
                            .receiver = pick({ends_[0]->id(), 0, random()}),
                            .sequence = pick({random() % 2000, random(), ~0ULL, 0}),
                            .message = pick({random() % 2000, random(), ~0ULL, 0})});
      ASSERT_TRUE(send_frame(*devices_[1], byte_span(frame).first(14 + 56 + size)));
      now_ += 10us;
      std::ignore = ends_[0]->turn(now_);
      for (auto found = ends_[0]->next(now_); found && *found;) found = ends_[0]->next(now_);
    }
  }
}

}  // namespace
}  // namespace strata::ipc
