// The byte channel, on every backend: credit, room, and ends that lose nothing.
#include "net/stream.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "net/testing/backend_stage.hpp"
#include "strata/base/unique_fd.hpp"

namespace strata::net {
namespace {

using namespace std::chrono_literals;

class stream_test : public backend_stage {
 protected:
  /// More than the network buffers between two ends, on any backend.
  static constexpr std::size_t plenty = 16U << 20U;
  [[nodiscard]] std::size_t flood_size() const { return is_simulated() ? 1U << 16U : plenty; }
};

/// Returns an unnamed file.
unique_fd file_of(std::string_view text) {
  unique_fd made(::memfd_create("strata-test", MFD_CLOEXEC));
  EXPECT_EQ(::write(made.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  return made;
}

TEST_P(stream_test, readers_that_never_read_keep_nobody_from_being_heard) {
  std::vector<pair> deaf;
  loop::task_group readers;
  std::vector<bool> has_begun(40, false);
  // Each stream receives bytes once, and its reader waits for something else from then on.
  const auto stall = [&](stream& stream, std::size_t index) -> loop::task<> {
    {
      auto first = co_await stream.receive();
      has_begun[index] = first && !first->empty();
    }
    co_await loop_->sleep(1h);
  };
  for (std::size_t i = 0; i < has_begun.size(); ++i) {
    deaf.push_back(connected_pair());
    readers.spawn(stall(*deaf.back().server, i));
    deaf.back().client->push_copy(as_bytes(std::string(flood_size(), 'x')));
  }
  ASSERT_TRUE(run_until([&] { return std::ranges::all_of(has_begun, std::identity{}); }));
  run_turns(200);
  auto [client, server] = connected_pair();
  std::string received;
  bool ended = false;
  loop::task_group hearing;
  hearing.spawn(read_all(*server, received, ended));
  client->push_copy(as_bytes("can you hear me?"));
  EXPECT_TRUE(run_until([&] { return received == "can you hear me?"; })) << received;
}

TEST_P(stream_test, what_comes_while_the_reader_is_busy_is_whole_and_in_order) {
  auto [client, server] = connected_pair();
  std::string sent;
  for (int i = 0; sent.size() < flood_size(); ++i) sent += std::to_string(i) + ' ';
  client->push_copy(as_bytes(sent));
  client->end();
  std::string received;
  bool ended = false;
  const auto dawdle = [&]() -> loop::task<> {
    for (;;) {
      {
        auto got = co_await server->receive();
        if (!got || got->empty()) break;
        received += as_text(got->bytes());
      }
      co_await loop_->sleep(50us);
    }
    ended = true;
  };
  loop::task_group readers;
  readers.spawn(dawdle());
  EXPECT_TRUE(run_until([&] { return ended; }));
  EXPECT_EQ(received.size(), sent.size());
  EXPECT_TRUE(received == sent);
}

TEST_P(stream_test, awaits_room_and_is_told_when_the_time_is_over) {
  auto [client, server] = connected_pair();
  client->push_copy(as_bytes(std::string(flood_size(), 'x')));
  bool in_time = true;
  bool has_room = false;
  const auto wait = [&]() -> loop::task<> {
    in_time = co_await client->writable(1000, loop_->now() + 20ms);
    has_room = co_await client->writable(1000);
  };
  loop::task_group tasks;
  tasks.spawn(wait());
  ASSERT_TRUE(run_until([&] { return !in_time; }));
  std::string received;
  bool ended = false;
  tasks.spawn(read_all(*server, received, ended));
  EXPECT_TRUE(run_until([&] { return has_room; }));
  EXPECT_LE(client->unsent(), 1000U);
}

TEST_P(stream_test, ends_behind_what_is_unsent) {
  auto [client, server] = connected_pair();
  client->push_copy(as_bytes(std::string(flood_size(), 'x')));
  client->end();
  std::string received;
  bool ended = false;
  loop::task_group tasks;
  tasks.spawn(read_all(*server, received, ended));
  ASSERT_TRUE(run_until([&] { return ended; }));
  EXPECT_EQ(received.size(), flood_size());
  // The other direction still works.
  server->push_copy(as_bytes("bye"));
  std::string answer;
  bool answered = false;
  tasks.spawn(read_all(*client, answer, answered));
  EXPECT_TRUE(run_until([&] { return answer == "bye"; }));
}

TEST_P(stream_test, sends_part_of_a_file_behind_what_was_pushed) {
  auto [client, server] = connected_pair();
  std::string text;
  for (int i = 0; text.size() < flood_size(); ++i) text += std::to_string(i) + ' ';
  const auto file = file_of(text);
  client->push_copy(as_bytes("head "));
  client->push_file({.fd = file.get(), .offset = 100, .count = text.size() - 150});
  EXPECT_EQ(client->unsent(), 5 + text.size() - 150);
  std::string received;
  bool ended = false;
  loop::task_group tasks;
  tasks.spawn(read_all(*server, received, ended));
  ASSERT_TRUE(run_until([&] { return client->unsent() == 0; }));
  client->push_copy(as_bytes(" tail"));
  client->end();
  ASSERT_TRUE(run_until([&] { return ended; }));
  EXPECT_TRUE(received == "head " + text.substr(100, text.size() - 150) + " tail")
      << received.size();
}

TEST_P(stream_test, a_file_that_is_too_short_ends_the_stream_behind_what_there_is) {
  auto [client, server] = connected_pair();
  const auto file = file_of("all that there is");
  client->push_file({.fd = file.get(), .offset = 4, .count = 1000});
  std::string received;
  bool ended = false;
  loop::task_group tasks;
  tasks.spawn(read_all(*server, received, ended));
  ASSERT_TRUE(run_until([&] { return ended; }));
  EXPECT_EQ(received, "that there is");
  EXPECT_EQ(client->broken(), ENODATA);
  EXPECT_EQ(client->unsent(), 0U);
}

TEST_P(stream_test, a_stream_may_go_while_it_sends_a_file) {
  const auto file = file_of(std::string(flood_size(), 'x'));
  for (int turns = 0; turns < 20; ++turns) {
    auto [client, server] = connected_pair();
    client->push_file({.fd = file.get(), .offset = 0, .count = flood_size()});
    run_turns(turns);
    (turns % 2 == 0 ? client : server).reset();
    run_turns(5);
  }
}

TEST_P(stream_test, is_delivered_when_the_other_side_has_it) {
  auto [client, server] = connected_pair();
  client->push_copy(as_bytes("hello"));
  bool delivered = false;
  const auto wait = [&]() -> loop::task<> {
    delivered = co_await client->delivered(loop_->now() + 5s);
  };
  std::string received;
  bool ended = false;
  loop::task_group tasks;
  tasks.spawn(wait());
  tasks.spawn(read_all(*server, received, ended));
  EXPECT_TRUE(run_until([&] { return delivered; }));
}

TEST_P(stream_test, who_awaits_room_of_a_stream_that_goes_is_told_so) {
  auto [client, server] = connected_pair();
  client->push_copy(as_bytes(std::string(flood_size(), 'x')));
  int answers = 0;
  const auto wait = [&]() -> loop::task<> {
    const bool has_room = co_await client->writable(0);
    EXPECT_FALSE(has_room);
    ++answers;
  };
  loop::task_group tasks;
  tasks.spawn(wait());
  tasks.spawn(wait());
  run_turns(3);
  client.reset();
  EXPECT_TRUE(run_until([&] { return answers == 2; }));
}

TEST_P(stream_test, who_awaits_room_hears_that_the_peer_has_gone) {
  auto [client, server] = connected_pair();
  client->push_copy(as_bytes(std::string(flood_size(), 'x')));
  bool woken = false;
  const auto wait = [&]() -> loop::task<> {
    (void)co_await client->writable(0);
    woken = true;
  };
  loop::task_group tasks;
  tasks.spawn(wait());
  run_turns(3);
  server.reset();
  EXPECT_TRUE(run_until([&] { return woken; }));
  EXPECT_NE(client->broken(), 0);
}

TEST_P(stream_test, bytes_that_were_looked_at_can_be_given_back) {
  auto [client, server] = connected_pair();
  client->push_copy(as_bytes("GET / HTTP/1.1\r\n"));
  std::string received;
  bool ended = false;
  const auto detect = [&]() -> loop::task<> {
    auto first = co_await server->receive();
    EXPECT_TRUE(first);
    const auto seen = first->bytes();
    EXPECT_EQ(as_text(seen.first(1)), "G");
    server->unread(std::move(*first));
    co_await loop_->sleep(1ms);
    co_await read_all(*server, received, ended);
  };
  loop::task_group tasks;
  tasks.spawn(detect());
  EXPECT_TRUE(run_until([&] { return received == "GET / HTTP/1.1\r\n"; })) << received;
}

TEST_P(stream_test, knows_both_ends) {
  auto [client, server] = connected_pair();
  EXPECT_EQ(client->peer().address, server->peer().local);
  if (!is_simulated()) {
    EXPECT_EQ(server->peer().address, client->peer().local);
  }
}

// A stand-in for TLS: each seal is a length and its bytes, inverted.
class toy_sealer final : public sealer {
 public:
  explicit toy_sealer(std::vector<std::size_t>& sizes) : sizes_(sizes) {}
  loop::slice seal(std::span<const loop::slice> plain) override {
    std::string record;
    for (const auto& each : plain) record += as_text(each.bytes());
    for (auto& letter : record) letter = static_cast<char>(~letter);
    sizes_.push_back(record.size());
    const auto size = static_cast<std::uint32_t>(record.size());
    std::string sealed(reinterpret_cast<const char*>(&size), sizeof size);
    return loop::slice::copy_of(as_bytes(sealed + record));
  }

 private:
  std::vector<std::size_t>& sizes_;
};

std::string unsealed(std::string_view wire) {
  std::string plain;
  while (wire.size() >= sizeof(std::uint32_t)) {
    std::uint32_t size = 0;
    std::copy_n(wire.data(), sizeof size, reinterpret_cast<char*>(&size));
    wire.remove_prefix(sizeof size);
    for (const auto letter : wire.substr(0, size)) plain += static_cast<char>(~letter);
    wire.remove_prefix(std::min<std::size_t>(size, wire.size()));
  }
  return plain;
}

TEST_P(stream_test, is_sealed_when_it_leaves_in_records_that_fill) {
  auto [client, server] = connected_pair();
  std::vector<std::size_t> records;
  client->out().seal_with(std::make_unique<toy_sealer>(records));
  std::string sent;
  for (int i = 0; sent.size() < 200'000; ++i) {
    const auto line = "line " + std::to_string(i) + "\n";
    sent += line;
    client->push_copy(as_bytes(line));
    if (i % 1000 == 0) run_turns(1);
  }
  client->end();
  std::string wire;
  bool ended = false;
  loop::task_group tasks;
  tasks.spawn(read_all(*server, wire, ended));
  ASSERT_TRUE(run_until([&] { return ended; }));
  EXPECT_TRUE(unsealed(wire) == sent);
  EXPECT_LT(records.size(), 40U) << "some 200 kB, at most 64 KiB each, and one a turn that pushed";
  EXPECT_EQ(client->unsent(), 0U);
  EXPECT_EQ(client->out().pushed(), sent.size());
}

TEST_P(stream_test, what_may_not_go_yet_is_not_sealed_yet) {
  auto [client, server] = connected_pair();
  std::vector<std::size_t> records;
  client->out().seal_with(std::make_unique<toy_sealer>(records));
  client->push_copy(as_bytes("first"));
  client->out().allow(client->out().pushed());
  client->push_copy(as_bytes("second"));
  std::string wire;
  bool ended = false;
  loop::task_group tasks;
  tasks.spawn(read_all(*server, wire, ended));
  ASSERT_TRUE(run_until([&] { return unsealed(wire) == "first"; }));
  EXPECT_EQ(records, (std::vector<std::size_t>{5}));
  client->out().allow(UINT64_MAX);
  EXPECT_TRUE(run_until([&] { return unsealed(wire) == "firstsecond"; }));
}

INSTANTIATE_TEST_SUITE_P(backends, stream_test, testing::Values("io_uring", "epoll", "simulation"),
                         [](const auto& backend) { return backend.param; });

}  // namespace
}  // namespace strata::net
