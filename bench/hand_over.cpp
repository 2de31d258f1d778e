// What it costs to hand requests from the loop that serves their connections to another one that
// executes them, and their replies back: docs/cache-threads.md has what it found. Requests travel
// in lists, as a turn of a loop collects them. The processor time of both threads counts.
//
//   bench_hand_over [io_uring|epoll] [requests of each measurement]
#include <fmt/core.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <latch>
#include <memory>
#include <string_view>
#include <thread>
#include <vector>

#include "clock.hpp"
#include "failure.hpp"
#include "loop/backends/backend.hpp"

namespace strata::bench {
namespace {

/// A connection's request and its reply: memory that only one of the loops uses at a time.
struct exchange {
  std::array<char, 128> request{};
  std::array<char, 128> reply{};
};

using exchanges = std::vector<exchange*>;

std::uint64_t cpu_ns() {
  timespec spent{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
  return static_cast<std::uint64_t>(spent.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(spent.tv_nsec);
}

std::unique_ptr<loop::loop> make_loop(std::string_view backend) {
  const auto kind = backend == "epoll" ? loop::backend_kind::epoll : loop::backend_kind::io_uring;
  auto made = loop::make_loop(kind);
  if (!made) fail(made.error().reason);
  return std::move(*made);
}

/// Lists of `size` requests, of which `lists` are on their way at any time.
class hand_over {
 public:
  hand_over(std::string_view backend, std::size_t size, std::size_t lists, std::uint64_t rounds)
      : backend_(backend), near_(make_loop(backend)), left_(rounds), under_way_(lists) {
    all_.resize(size * lists);
    for (std::size_t i = 0; i < lists; ++i) {
      auto& list = lists_.emplace_back();
      for (std::size_t j = 0; j < size; ++j) list.push_back(&all_[i * size + j]);
    }
  }

  /// Returns the processor time of both threads.
  std::uint64_t run() {
    std::latch is_there(1);
    std::thread executing([this, &is_there] {
      far_ = make_loop(backend_);  // of its own thread
      is_there.count_down();
      const auto began = cpu_ns();
      far_->run();
      far_ns_ = cpu_ns() - began;
    });
    is_there.wait();
    const auto began = cpu_ns();
    for (auto& each : lists_) ask(each);
    near_->run();
    const auto own = cpu_ns() - began;
    far_->post([this] { far_->stop(); });
    executing.join();
    return own + far_ns_;
  }

 private:
  void ask(exchanges& list) {
    for (auto* each : list) ++each->request[0];
    far_->post([this, &list] { execute(list); });
  }
  void execute(exchanges& list) {
    for (auto* each : list) std::memcpy(each->reply.data(), each->request.data(), 32);
    near_->post([this, &list] { take(list); });
  }
  void take(exchanges& list) {
    for (const auto* each : list) replies_ += static_cast<std::uint64_t>(each->reply[0] != 0);
    if (left_ > 0) {
      --left_;
      ask(list);
    } else if (--under_way_ == 0) {
      near_->stop();
    }
  }

  std::string_view backend_;
  std::unique_ptr<loop::loop> near_;
  std::unique_ptr<loop::loop> far_;
  std::vector<exchange> all_;
  std::vector<exchanges> lists_;
  std::uint64_t left_;
  std::size_t under_way_;
  std::uint64_t replies_ = 0;
  std::uint64_t far_ns_ = 0;
};

void measure(std::string_view backend, std::size_t size, std::size_t lists,
             std::uint64_t requests) {
  const auto rounds = requests / size;
  hand_over measured(backend, size, lists, rounds);
  const auto began = now_ns();
  const auto spent = measured.run();
  const auto took = now_ns() - began;
  const auto handed = static_cast<double>(rounds * size);
  fmt::print("{:>10}{:>8}{:>12.0f}{:>12.0f}{:>14.2f}\n", size, lists,
             static_cast<double>(spent) / handed, static_cast<double>(took) / handed,
             handed / static_cast<double>(took) * 1e3);
}

}  // namespace
}  // namespace strata::bench

int main(int count, char** words) {
  const std::string_view backend = count > 1 ? words[1] : "io_uring";
  const auto requests = count > 2 ? std::strtoull(words[2], nullptr, 10) : 2'000'000U;
  if ((backend != "io_uring" && backend != "epoll") || requests < 1000) {
    strata::bench::fail("give io_uring or epoll, and a number of at least 1,000 requests");
  }
  fmt::print("{:>10}{:>8}{:>12}{:>12}{:>14}\n", "requests", "lists", "CPU ns", "ns", "million/s");
  for (const std::size_t size : {1U, 8U, 32U, 128U}) {
    for (const std::size_t lists : {1U, 4U}) {
      strata::bench::measure(backend, size, lists, size == 1 ? requests / 10 : requests);
    }
  }
}
