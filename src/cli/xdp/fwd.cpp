// strata xdp fwd: forwards frames between two interfaces, without a copy in this process.
#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <nlohmann/json.hpp>

#include "cli/l2/link_losses.hpp"
#include "cli/terminal/interrupt.hpp"
#include "cli/terminal/listing.hpp"
#include "cli/terminal/output.hpp"
#include "cli/xdp/flags.hpp"
#include "cli/xdp/rows.hpp"

namespace strata::cli {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

// How long the last frames may take to be sent.
constexpr auto fwd_timeout = 2s;

// Both sockets share one UMEM: a frame that one received is sent by the other, and its chunk
// returns for receiving.
class forwarder {
 public:
  static constexpr std::size_t sides = 2;

  forwarder(xdp::socket a, xdp::socket b) : sockets_{std::move(a), std::move(b)} {
    const auto& memory = *sockets_[0].memory();
    for (std::uint32_t i = 0; i < memory.frame_count(); ++i) free_.push_back(memory.frame_at(i));
  }

  result<void> run(std::uint64_t most, std::optional<clock::duration> silence) {
    auto last = clock::now();
    while (forwarded() < most && !is_interrupted()) {
      bool is_busy = false;
      for (std::size_t side = 0; side < sides; ++side) {
        refill(sockets_[side]);
        is_busy = forward(side) || is_busy;
        const auto all_sent = push(sockets_[1 - side]);
        if (!all_sent) return std::unexpected(all_sent.error());
        is_busy = !*all_sent || is_busy;
      }
      if (is_busy) {
        last = clock::now();
      } else if (silence && forwarded() != 0 && clock::now() - last > *silence) {
        break;
      } else if (auto waited = wait(); !waited) {
        return waited;
      }
    }
    return finish();
  }

  [[nodiscard]] std::uint64_t forwarded(std::size_t side) const { return forwarded_[side]; }
  [[nodiscard]] std::uint64_t forwarded() const { return forwarded_[0] + forwarded_[1]; }
  /// Frames for which there was no room to send.
  [[nodiscard]] std::uint64_t lost() const { return lost_; }
  [[nodiscard]] const xdp::socket& socket(std::size_t side) const { return sockets_[side]; }

 private:
  // A fill ring holds half of the frames, so neither side can starve the other.
  void refill(xdp::socket& socket) {
    const auto places = socket.fill().reserve(
        static_cast<std::uint32_t>(std::min<std::size_t>(batch, free_.size())));
    for (std::uint32_t i = 0; i < places.size(); ++i) {
      places[i] = free_.back();
      free_.pop_back();
    }
    if (!places.empty()) socket.fill().submit(places.size());
  }

  bool forward(std::size_t side) {
    auto& from = sockets_[side];
    auto& to = sockets_[1 - side];
    const auto there = from.receive().peek(batch);
    if (there.empty()) return false;
    const auto places = to.transmit().reserve(there.size());
    for (std::uint32_t i = 0; i < there.size(); ++i) {
      if (i < places.size()) {
        places[i] = there[i];
      } else {
        free_.push_back(from.memory()->frame_of(there[i].address));
        ++lost_;
      }
    }
    if (!places.empty()) to.transmit().submit(places.size());
    from.receive().release(there.size());
    forwarded_[side] += places.size();
    return true;
  }

  /// Returns false if the kernel has not taken all frames yet.
  result<bool> push(xdp::socket& socket) {
    result<bool> all_sent = true;
    if (!socket.is_zerocopy() || socket.transmit().needs_wakeup())
      all_sent = socket.wake_transmit();
    const auto done = socket.completion().peek(batch);
    for (std::uint32_t i = 0; i < done.size(); ++i) {
      free_.push_back(socket.memory()->frame_of(done[i]));
    }
    if (!done.empty()) socket.completion().release(done.size());
    return all_sent;
  }

  // Sends what is still in the transmit rings.
  result<void> finish() {
    const auto limit = clock::now() + fwd_timeout;
    for (auto& over : sockets_) {
      for (result<bool> all_sent = false; !*all_sent && clock::now() < limit;) {
        all_sent = push(over);
        if (!all_sent) return std::unexpected(all_sent.error());
      }
    }
    return {};
  }

  result<void> wait() {
    std::array<pollfd, sides> asked{pollfd{sockets_[0].fd(), POLLIN, 0},
                                    pollfd{sockets_[1].fd(), POLLIN, 0}};
    if (::poll(asked.data(), asked.size(), interrupt_interval.count()) < 0 && errno != EINTR) {
      return system_failure(errno, "wait for AF_XDP sockets");
    }
    return {};
  }

  std::array<xdp::socket, sides> sockets_;
  std::vector<std::uint64_t> free_;
  std::array<std::uint64_t, sides> forwarded_{};
  std::uint64_t lost_ = 0;
};

void report(const invocation& call, const forwarder& forwarder) {
  if (call.as_json) {
    print_json(
        {{"forwarded",
          {{call.words[0], forwarder.forwarded(0)}, {call.words[1], forwarder.forwarded(1)}}},
         {"lost", forwarder.lost()}});
    return;
  }
  print(fmt::format("[fwd] {}: {} (pkts) {}: {} (pkts) lost: {} (pkts)\n", call.words[0],
                    forwarder.forwarded(0), call.words[1], forwarder.forwarded(1),
                    forwarder.lost()));
}

result<forwarder> open_both(const invocation& call, const xdp::socket_options& options) {
  auto memory = xdp::umem::create();
  if (!memory) return std::unexpected(memory.error());
  auto a = xdp::socket::create(*memory, call.words[0], queue_flag(call), options);
  if (!a) return std::unexpected(a.error());
  auto b = xdp::socket::create(*memory, call.words[1], queue_flag(call), options);
  if (!b) return std::unexpected(b.error());
  return forwarder(std::move(*a), std::move(*b));
}

// Sockets of one UMEM are all zero-copy or none: if only one of the drivers supports it, none.
result<forwarder> open_both(const invocation& call) {
  auto options = socket_flags(call);
  auto opened = open_both(call, options);
  const bool is_final = opened || opened.error().code != errc::not_supported ||
                        options.mode == xdp::copy_mode::zerocopy;
  if (is_final) return opened;
  options.mode = xdp::copy_mode::copy;
  return open_both(call, options);
}

}  // namespace

outcome<int> run_xdp_fwd(const invocation& call) {
  if (call.words[0] == call.words[1]) {
    return refuse(exit_misused,
                  fmt::format("'{}' cannot be both ends: name two interfaces", call.words[0]));
  }
  const auto mode = attach_flag(call);
  if (!mode) return std::unexpected(mode.error());
  const auto which = filter_flags(call);
  if (!which) return std::unexpected(which.error());
  auto opened = open_both(call);
  if (!opened) return refuse_open(opened.error());
  auto& work = *opened;
  std::vector<xdp::route> routes;
  for (std::size_t side = 0; side < forwarder::sides; ++side) {
    const auto program = xdp::program::attach(call.words[side], *mode);
    if (!program) return refuse_open(program.error());
    auto route = (*program)->add(*which, work.socket(side));
    if (!route) return refuse_open(route.error());
    routes.push_back(std::move(*route));
  }
  watch_for_interrupt();
  const std::array<link_losses, forwarder::sides> losses{link_losses(call.words[0]),
                                                         link_losses(call.words[1])};
  const auto done = work.run(count_flag(call), silence_flag(call));
  report(call, work);
  if (!done) return refuse(exit_failed, done.error());
  // The frames received on one side were sent by the other.
  for (std::size_t side = 0; side < forwarder::sides; ++side) {
    if (const auto trouble = losses[side].trouble(work.forwarded(1 - side))) {
      return refuse(exit_failed, *trouble);
    }
  }
  return exit_done;
}

}  // namespace strata::cli
