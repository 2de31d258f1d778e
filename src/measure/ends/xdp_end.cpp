// The paths over AF_XDP, built from the library's ports.
#include <algorithm>
#include <array>
#include <bit>

#include "measure/ends/end.hpp"
#include "measure/ends/raw_frames.hpp"
#include "strata/xdp/port.hpp"

namespace strata::measure {

namespace {

// How often the end checks whether everything has been sent.
constexpr int most_looks = 1000;

struct manner {
  xdp::attach_mode attach = xdp::attach_mode::native;
  bool busy_polls = false;
};

// Sends, receives, or both, frames in batches.
class xdp_port final : public sender, public receiver {
 public:
  xdp_port(xdp::port port, message_batch batch, const end_options& options)
      : port_(std::move(port)), batch_(std::move(batch)), taker_(options), busy_(options.busy) {}

  result<std::size_t> send(const pace& stamps, std::size_t count) override {
    auto taken = port_.try_send(batch_.write(stamps, std::min(count, batch_.count())));
    if (!taken || *taken != 0) return taken;
    if (auto ready = port_.below().wait_writable(timeout); !ready) {
      return std::unexpected(ready.error());
    }
    return 0;
  }
  [[nodiscard]] std::size_t most() const override { return batch_.count(); }
  result<void> flush() override {
    for (int looks = 0; port_.in_flight() != 0 && looks < most_looks; ++looks) {
      if (auto pushed = port_.try_send({}); !pushed) return std::unexpected(pushed.error());
    }
    return {};
  }

  result<std::size_t> receive(tally& tally) override {
    std::array<byte_span, batch_size> frames;
    auto count = port_.try_receive(frames);
    if (count && *count == 0 && !busy_) {
      const auto ready = port_.wait_readable(timeout);
      if (!ready) return std::unexpected(ready.error());
      count = port_.try_receive(frames);
    }
    if (!count || *count == 0) return count;
    tally.begin();
    for (const auto& each : std::span(frames).first(*count)) taker_.take(each, tally);
    return count;
  }
  result<std::uint64_t> dropped() override {
    const auto counted = port_.statistics();
    if (!counted) return std::unexpected(counted.error());
    return counted->dropped;
  }

 private:
  xdp::port port_;
  message_batch batch_;
  frame_taker taker_;
  bool busy_;
};

// Uses as much memory as the other paths.
xdp::port_options options_for(const end_options& options, const manner& manner) {
  constexpr std::size_t least_frames = 256;
  constexpr std::size_t most_frames = 16384;
  xdp::port_options made;
  made.which.ethertype = frame_ethertype;
  made.attach = manner.attach;
  const auto frames = std::clamp(std::bit_floor(options.buffer / made.memory.frame_size),
                                 least_frames, most_frames);
  const bool both_ways = options.sends && options.receives;
  const auto entries = static_cast<std::uint32_t>(frames);
  made.memory.frame_count = both_ways ? 2 * entries : entries;
  made.socket.receive_size = options.receives ? entries : 0;
  made.socket.transmit_size = options.sends ? entries : 0;
  made.socket.fill_size = entries;
  made.socket.completion_size = entries;
  made.socket.multi_buffer =
      options.mtu + wire::ethernet_header_size + wire::vlan_tag_size + xdp::umem::kernel_headroom >
      made.memory.frame_size;
  if (manner.busy_polls) made.socket.busy_poll.emplace();
  return made;
}

result<end> open_xdp(const end_options& options, const manner& manner) {
  const auto link = l2::interface::query(options.interface);
  if (!link) return std::unexpected(link.error());
  auto batch = make_frames(*link, options, options.receives && options.sends ? 1 : batch_size);
  if (!batch) return std::unexpected(batch.error());
  auto port = xdp::port::open(options.interface, 0, options_for(options, manner));
  if (!port) return std::unexpected(port.error());
  const auto both = std::make_shared<xdp_port>(std::move(*port), std::move(*batch), options);
  return end{.out = both, .in = both};
}

}  // namespace

result<end> open_xdp_native(const end_options& options) { return open_xdp(options, {}); }

result<end> open_xdp_busy_poll(const end_options& options) {
  return open_xdp(options, {.busy_polls = true});
}

result<end> open_xdp_generic(const end_options& options) {
  return open_xdp(options, {.attach = xdp::attach_mode::generic});
}

}  // namespace strata::measure
