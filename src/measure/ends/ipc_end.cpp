// The path over the library's IPC channel, which packs many messages into a frame.
#include <poll.h>

#include <algorithm>

#include "measure/ends/end.hpp"
#include "strata/ipc/channel.hpp"
#include "strata/wire/ipc_frame.hpp"

namespace strata::measure {

namespace {

class channel_end final : public sender, public receiver {
 public:
  channel_end(ipc::channel channel, const end_options& options)
      : channel_(std::move(channel)),
        batch_({}, options.payload, 0, batch_size),
        busy_(options.busy),
        answers_(options.sends && options.receives) {}

  // At full speed, full frames are sent by themselves, several at once. At a rate, and when an
  // answer is expected, a message waits only for messages that are due now.
  result<std::size_t> send(const pace& stamps, std::size_t count) override {
    const auto messages = batch_.write(stamps, std::min(count, batch_size));
    std::size_t taken = 0;
    for (const auto& message : messages) {
      const auto posted = channel_.post(message);
      if (!posted) return std::unexpected(posted.error());
      if (!*posted) break;
      ++taken;
    }
    if (answers_ || stamps.first.time_ns != 0) {
      if (auto sent = channel_.flush(); !sent) return std::unexpected(sent.error());
    }
    if (taken == 0) return make_room();
    return taken;
  }
  [[nodiscard]] std::size_t most() const override { return answers_ ? 1 : batch_size; }
  result<void> flush() override { return channel_.flush(); }

  result<std::size_t> receive(tally& tally) override {
    auto message = channel_.try_receive_view();
    if (message && !*message && !busy_) {
      wait(POLLIN);
      message = channel_.try_receive_view();
    }
    if (!message) return std::unexpected(message.error());
    if (!*message) return 0;
    tally.begin();
    std::size_t count = 0;
    while (*message) {
      tally.take((*message)->bytes);
      if (++count == most()) break;
      message = channel_.try_receive_view();
      if (!message) return std::unexpected(message.error());
    }
    return count;
  }
  // The kernel counts frames, which are full when there are too many of them. The channel counts
  // lost messages by their numbers, except for the last ones.
  result<std::uint64_t> dropped() override {
    const auto seen = channel_.statistics();
    if (seen.dropped == 0) return 0;
    const auto a_message = wire::ipc_records::head_size + batch_.stride();
    const auto a_frame = (channel_.link().mtu - wire::ipc_header_size) / a_message;
    return std::max<std::uint64_t>(seen.messages_lost, seen.dropped * a_frame);
  }

 private:
  result<std::size_t> make_room() {
    wait(POLLOUT);
    if (auto turned = channel_.turn(); !turned) return std::unexpected(turned.error());
    return 0;
  }
  // The next call reports an error.
  void wait(short events) const {
    pollfd asked{.fd = channel_.fd(), .events = events, .revents = 0};
    ::poll(&asked, 1, timeout_ms);
  }

  ipc::channel channel_;
  message_batch batch_;
  bool busy_;
  bool answers_;
};

}  // namespace

result<end> open_ipc(const end_options& options) {
  ipc::channel_config wanted;
  wanted.interface_name = options.interface;
  wanted.channel = "strata bench paths";
  if (options.receives) wanted.receive_buffer = options.buffer;
  auto channel = ipc::channel::create(wanted);
  if (!channel) return std::unexpected(channel.error());
  const auto both = std::make_shared<channel_end>(std::move(*channel), options);
  return end{.out = both, .in = both};
}

}  // namespace strata::measure
