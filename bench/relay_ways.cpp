// What it costs a relay of TCP to pass bytes on, by each way that the kernel offers: read into
// memory and sent from there, sent without a copy (MSG_ZEROCOPY, io_uring SEND_ZC), or moved
// through a pipe (splice). A thread says bytes, one hears them, and the relay is in between: its
// own CPU time is what counts. The ways take turns.
//
//   bench_relay_ways [MiB of each turn] [turns]
#include <fcntl.h>
#include <fmt/core.h>
#include <liburing.h>
#include <linux/errqueue.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "clock.hpp"
#include "failure.hpp"

namespace strata::bench {
namespace {

constexpr std::size_t largest = 1U << 20U;
// Newer than the library: have SEND_ZC's notice say whether the kernel has copied after all.
constexpr unsigned report_usage = 1U << 3U;
constexpr unsigned was_copied = 1U << 31U;

int check(long result, const char* what) {
  if (result < 0) fail_errno(what);
  return static_cast<int>(result);
}

/// Two ends of a connection over loopback.
std::pair<int, int> connected() {
  const int listener = check(socket(AF_INET, SOCK_STREAM, 0), "socket");
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  auto* const any = reinterpret_cast<sockaddr*>(&at);
  check(bind(listener, any, size), "bind");
  check(listen(listener, 1), "listen");
  check(getsockname(listener, any, &size), "getsockname");
  const int near = check(socket(AF_INET, SOCK_STREAM, 0), "socket");
  check(connect(near, any, size), "connect");
  const int far = check(accept(listener, nullptr, nullptr), "accept");
  close(listener);
  return {near, far};
}

std::uint64_t own_cpu_ns() {
  timespec spent{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
  return static_cast<std::uint64_t>(spent.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(spent.tv_nsec);
}

void send_all(int to, const char* data, std::size_t size, int flags) {
  for (std::size_t at = 0; at < size;) {
    at += static_cast<std::size_t>(check(send(to, data + at, size - at, flags), "send"));
  }
}

struct relayed {
  std::uint64_t bytes = 0;
  std::uint64_t copied = 0;  // sends that the kernel copied after all
};

relayed by_copies(int from, int to, std::size_t at_a_time) {
  std::vector<char> memory(at_a_time);
  relayed done;
  for (;;) {
    const auto got = check(recv(from, memory.data(), memory.size(), 0), "recv");
    if (got == 0) return done;
    send_all(to, memory.data(), static_cast<std::size_t>(got), 0);
    done.bytes += static_cast<std::uint64_t>(got);
  }
}

relayed by_splice(int from, int to, std::size_t at_a_time) {
  std::array<int, 2> pipe_ends{};
  check(pipe(pipe_ends.data()), "pipe");
  check(fcntl(pipe_ends[1], F_SETPIPE_SZ, static_cast<int>(largest)), "F_SETPIPE_SZ");
  relayed done;
  for (;;) {
    auto got =
        check(splice(from, nullptr, pipe_ends[1], nullptr, at_a_time, SPLICE_F_MOVE), "splice");
    if (got == 0) break;
    done.bytes += static_cast<std::uint64_t>(got);
    while (got != 0) {
      got -= check(splice(pipe_ends[0], nullptr, to, nullptr, static_cast<std::size_t>(got),
                          SPLICE_F_MOVE | SPLICE_F_MORE),
                   "splice");
    }
  }
  for (const int each : pipe_ends) close(each);
  return done;
}

/// Reads how many sends the kernel is done with, and whether it has copied their bytes.
unsigned take_notices(int of, relayed& done) {
  std::array<char, 128> control{};
  msghdr header{};
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  if (recvmsg(of, &header, MSG_ERRQUEUE) < 0) return 0;
  const auto* const first = CMSG_FIRSTHDR(&header);
  if (first == nullptr) return 0;
  const auto* const notice = reinterpret_cast<const sock_extended_err*>(CMSG_DATA(first));
  const unsigned count = notice->ee_data - notice->ee_info + 1;
  if ((notice->ee_code & SO_EE_CODE_ZEROCOPY_COPIED) != 0) done.copied += count;
  return count;
}

// Memory is used again only when the kernel is done with it: so there are several pieces of it.
relayed by_zerocopy(int from, int to, std::size_t at_a_time) {
  constexpr std::size_t pieces = 16;
  const int on = 1;
  check(setsockopt(to, SOL_SOCKET, SO_ZEROCOPY, &on, sizeof on), "SO_ZEROCOPY");
  std::vector<std::vector<char>> memory(pieces, std::vector<char>(at_a_time));
  relayed done;
  unsigned under_way = 0;
  for (std::size_t next = 0;; next = (next + 1) % pieces) {
    while (under_way >= pieces) under_way -= take_notices(to, done);
    const auto got = check(recv(from, memory[next].data(), at_a_time, 0), "recv");
    if (got == 0) break;
    for (int at = 0; at < got; ++under_way) {
      at += check(
          send(to, memory[next].data() + at, static_cast<std::size_t>(got - at), MSG_ZEROCOPY),
          "send");
    }
    done.bytes += static_cast<std::uint64_t>(got);
  }
  while (under_way != 0) under_way -= take_notices(to, done);
  return done;
}

/// io_uring, one request after the other.
class ring {
 public:
  explicit ring(relayed& counts) : counts_(counts) {
    check(io_uring_queue_init(64, &of_, IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN),
          "io_uring_queue_init");
  }
  ring(const ring&) = delete;
  ring& operator=(const ring&) = delete;
  ~ring() { io_uring_queue_exit(&of_); }

  int receive(int from, char* into, std::size_t size) {
    io_uring_prep_recv(io_uring_get_sqe(&of_), from, into, size, 0);
    return result();
  }
  int send(int to, const char* data, std::size_t size, bool without_copy) {
    auto* const in = io_uring_get_sqe(&of_);
    if (without_copy) {
      io_uring_prep_send_zc(in, to, data, size, 0, report_usage);
    } else {
      io_uring_prep_send(in, to, data, size, 0);
    }
    return result();
  }
  /// Awaits that the kernel reads no more than `most` of what was sent without a copy.
  void wait_held(unsigned most) {
    while (held_ > most) take();
  }

 private:
  int result() {
    for (;;) {
      const auto done = take();
      if (done) return check(*done < 0 ? (errno = -*done, -1) : *done, "a request of the ring");
    }
  }
  /// Nullopt: it was a notice.
  std::optional<int> take() {
    io_uring_cqe* come = nullptr;
    check(io_uring_submit_and_wait(&of_, 1), "io_uring_submit_and_wait");
    check(io_uring_wait_cqe(&of_, &come), "io_uring_wait_cqe");
    const auto [result, flags] = std::pair(come->res, come->flags);
    io_uring_cqe_seen(&of_, come);
    if ((flags & IORING_CQE_F_NOTIF) != 0) {
      --held_;
      if ((static_cast<unsigned>(result) & was_copied) != 0) ++counts_.copied;
      return std::nullopt;
    }
    if ((flags & IORING_CQE_F_MORE) != 0) ++held_;
    return result;
  }

  io_uring of_{};
  relayed& counts_;
  unsigned held_ = 0;
};

relayed by_ring(int from, int to, std::size_t at_a_time, bool without_copy) {
  constexpr unsigned pieces = 16;
  std::vector<std::vector<char>> memory(pieces, std::vector<char>(at_a_time));
  relayed done;
  ring over(done);
  for (std::size_t next = 0;; next = (next + 1) % pieces) {
    over.wait_held(pieces - 1);
    char* const piece = memory[next].data();
    const int got = over.receive(from, piece, at_a_time);
    if (got == 0) break;
    for (int at = 0; at < got;) {
      at += over.send(to, piece + at, static_cast<std::size_t>(got - at), without_copy);
    }
    done.bytes += static_cast<std::uint64_t>(got);
  }
  over.wait_held(0);
  return done;
}

relayed by_ring_copies(int from, int to, std::size_t at_a_time) {
  return by_ring(from, to, at_a_time, false);
}
relayed by_ring_zerocopy(int from, int to, std::size_t at_a_time) {
  return by_ring(from, to, at_a_time, true);
}

struct way {
  const char* name;
  relayed (*pass)(int from, int to, std::size_t at_a_time);
  std::size_t at_a_time;
  std::vector<double> cpu_s_per_gib = {};
  std::vector<double> gib_per_s = {};
  double copied = 0;  // of the sends, the last turn's
};

void take_turn(way& of, std::uint64_t bytes) {
  const auto [says, from] = connected();
  const auto [to, hears] = connected();
  std::thread speaker([says = says, bytes] {
    const std::vector<char> memory(largest, 'x');
    for (std::uint64_t said = 0; said < bytes; said += largest) {
      send_all(says, memory.data(), memory.size(), 0);
    }
    shutdown(says, SHUT_WR);
  });
  std::uint64_t heard = 0;
  std::thread hearer([hears = hears, &heard] {
    std::vector<char> memory(largest);
    while (const int got = check(recv(hears, memory.data(), memory.size(), 0), "recv")) {
      heard += static_cast<std::uint64_t>(got);
    }
  });
  const auto began = now_ns();
  const auto cpu = own_cpu_ns();
  const auto done = of.pass(from, to, of.at_a_time);
  const auto spent = to_seconds(own_cpu_ns() - cpu);
  shutdown(to, SHUT_WR);
  speaker.join();
  hearer.join();
  for (const int each : {says, from, to, hears}) close(each);
  if (done.bytes != bytes || heard != bytes) fail("bytes were lost");
  const auto gib = static_cast<double>(bytes) / static_cast<double>(1U << 30U);
  of.cpu_s_per_gib.push_back(spent / gib);
  of.gib_per_s.push_back(gib / to_seconds(now_ns() - began));
  of.copied = static_cast<double>(done.copied) * static_cast<double>(of.at_a_time) /
              static_cast<double>(bytes);
}

double median(std::vector<double> of) {
  std::ranges::sort(of);
  return of[of.size() / 2];
}

}  // namespace
}  // namespace strata::bench

int main(int argc, char** argv) {
  using namespace strata::bench;
  const auto mib = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1024;
  const auto turns = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 5;
  std::vector<way> ways;
  for (const std::size_t size : {std::size_t{16} << 10U, std::size_t{36} << 10U, largest / 4}) {
    ways.push_back({"recv, send", by_copies, size});
    ways.push_back({"splice", by_splice, size});
    ways.push_back({"MSG_ZEROCOPY", by_zerocopy, size});
    ways.push_back({"io_uring recv, send", by_ring_copies, size});
    ways.push_back({"io_uring SEND_ZC", by_ring_zerocopy, size});
  }
  for (std::uint64_t turn = 0; turn < turns; ++turn) {
    for (auto& each : ways) take_turn(each, mib << 20U);
  }
  fmt::print("{:22} {:>8} {:>12} {:>9} {:>16}\n", "way", "at once", "CPU s/GiB", "GiB/s",
             "copied after all");
  for (const auto& each : ways) {
    fmt::print("{:22} {:>4} KiB {:>12.3f} {:>9.2f} {:>15.0f}%\n", each.name, each.at_a_time >> 10U,
               median(each.cpu_s_per_gib), median(each.gib_per_s),
               100 * std::min(each.copied, 1.0));
  }
}
