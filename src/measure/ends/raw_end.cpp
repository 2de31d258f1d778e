// The paths over AF_PACKET, built from the library's devices.
#include <algorithm>
#include <array>
#include <bit>
#include <chrono>

#include "measure/ends/end.hpp"
#include "measure/ends/raw_frames.hpp"
#include "strata/l2/frame_ring.hpp"
#include "strata/l2/packet_ring.hpp"
#include "strata/l2/raw_socket.hpp"
#include "strata/wire/ethernet.hpp"

namespace strata::measure {

namespace {

l2::raw_socket_options receiving(const end_options& options) {
  l2::raw_socket_options made;
  made.filter.ethertype = frame_ethertype;
  made.receive_buffer = options.buffer;
  return made;
}

template <class Device>
result<std::uint64_t> drops_of(Device& device) {
  const auto counted = device.statistics();
  if (!counted) return std::unexpected(counted.error());
  return counted->dropped;
}

template <class Device>
result<std::size_t> send_batch(Device& device, message_batch& batch, const pace& stamps,
                               std::size_t count) {
  const auto taken = device.try_send(batch.write(stamps, std::min(count, batch.count())));
  if (!taken || *taken != 0) return taken;
  if (auto ready = l2::wait_writable(device, timeout); !ready) {
    return std::unexpected(ready.error());
  }
  return 0;
}

// A raw socket that sends, receives, or both; one frame per call.
class frame_socket final : public sender, public receiver {
 public:
  frame_socket(l2::raw_socket socket, message_batch batch, const end_options& options)
      : socket_(std::move(socket)),
        batch_(std::move(batch)),
        taker_(options),
        busy_(options.busy),
        memory_(options.mtu + 64) {}

  result<std::size_t> send(const pace& stamps, std::size_t) override {
    const auto sent = socket_.send_raw(batch_.write(stamps, 1).front());
    if (!sent) return std::unexpected(sent.error());
    return 1;
  }
  result<std::size_t> receive(tally& tally) override {
    l2::frame_slot slot{.memory = memory_, .frame = {}};
    for (bool waited = busy_;; waited = true) {
      const auto count = socket_.try_receive({&slot, 1});
      if (!count) return count;
      if (*count != 0) break;
      if (waited) return 0;
      if (auto ready = l2::wait_readable(socket_, timeout); !ready) {
        return std::unexpected(ready.error());
      }
    }
    tally.begin();
    taker_.take(slot.frame.bytes, tally);
    return 1;
  }
  result<std::uint64_t> dropped() override { return drops_of(socket_); }

 private:
  l2::raw_socket socket_;
  message_batch batch_;
  frame_taker taker_;
  bool busy_;
  std::vector<std::byte> memory_;
};

class batch_sender final : public sender {
 public:
  batch_sender(l2::raw_socket socket, message_batch batch)
      : socket_(std::move(socket)), batch_(std::move(batch)) {}
  result<std::size_t> send(const pace& stamps, std::size_t count) override {
    return send_batch(socket_, batch_, stamps, count);
  }
  [[nodiscard]] std::size_t most() const override { return batch_.count(); }

 private:
  l2::raw_socket socket_;
  message_batch batch_;
};

class ring_sender final : public sender {
 public:
  ring_sender(l2::packet_ring ring, message_batch batch)
      : ring_(std::move(ring)), batch_(std::move(batch)) {}
  result<std::size_t> send(const pace& stamps, std::size_t count) override {
    return send_batch(ring_, batch_, stamps, count);
  }
  [[nodiscard]] std::size_t most() const override { return batch_.count(); }

 private:
  l2::packet_ring ring_;
  message_batch batch_;
};

class batch_receiver final : public receiver {
 public:
  batch_receiver(l2::raw_socket socket, const end_options& options)
      : socket_(std::move(socket)), taker_(options), memory_(batch_size * (options.mtu + 64)) {
    for (std::size_t i = 0; i < batch_size; ++i) {
      slots_[i].memory =
          mutable_byte_span(memory_).subspan(i * (options.mtu + 64), options.mtu + 64);
    }
  }
  result<std::size_t> receive(tally& tally) override {
    auto count = socket_.try_receive(slots_);
    if (count && *count == 0) {
      const auto ready = l2::wait_readable(socket_, timeout);
      if (!ready) return std::unexpected(ready.error());
      count = socket_.try_receive(slots_);
    }
    if (!count || *count == 0) return count;
    tally.begin();
    for (const auto& slot : std::span(slots_).first(*count)) taker_.take(slot.frame.bytes, tally);
    return count;
  }
  result<std::uint64_t> dropped() override { return drops_of(socket_); }

 private:
  l2::raw_socket socket_;
  frame_taker taker_;
  std::vector<std::byte> memory_;
  std::array<l2::frame_slot, batch_size> slots_{};
};

class ring_receiver final : public receiver {
 public:
  ring_receiver(l2::packet_ring ring, const end_options& options)
      : ring_(std::move(ring)), taker_(options) {}
  result<std::size_t> receive(tally& tally) override {
    auto block = ring_.try_block();
    if (!block) {
      const auto ready = l2::wait_readable(ring_, timeout);
      if (!ready) return std::unexpected(ready.error());
      block = ring_.try_block();
      if (!block) return 0;
    }
    tally.begin();
    for (const auto& frame : *block) taker_.take(frame.bytes, tally);
    return block->size();
  }
  result<std::uint64_t> dropped() override { return drops_of(ring_); }

 private:
  l2::packet_ring ring_;
  frame_taker taker_;
};

// Both directions: sends by system call, receives from a ring of slots.
class slot_ring final : public sender, public receiver {
 public:
  slot_ring(l2::frame_ring ring, message_batch batch, const end_options& options)
      : ring_(std::move(ring)), batch_(std::move(batch)), taker_(options), busy_(options.busy) {}
  result<std::size_t> send(const pace& stamps, std::size_t) override {
    const auto sent = ring_.send_raw(batch_.write(stamps, 1).front());
    if (!sent) return std::unexpected(sent.error());
    return 1;
  }
  result<std::size_t> receive(tally& tally) override {
    auto frame = ring_.try_frame();
    if (!frame) {
      if (busy_) return 0;
      const auto ready = l2::wait_readable(ring_, timeout);
      if (!ready) return std::unexpected(ready.error());
      frame = ring_.try_frame();
      if (!frame) return 0;
    }
    tally.begin();
    taker_.take((**frame).bytes, tally);
    return 1;
  }
  result<std::uint64_t> dropped() override { return drops_of(ring_); }

 private:
  l2::frame_ring ring_;
  message_batch batch_;
  frame_taker taker_;
  bool busy_;
};

result<std::shared_ptr<sender>> open_batch_sender(const end_options& options, bool bypass) {
  auto socket =
      l2::raw_socket::create_bound(options.interface, {.receives = false, .qdisc_bypass = bypass});
  if (!socket) return std::unexpected(socket.error());
  auto batch = make_frames(socket->link(), options, batch_size);
  if (!batch) return std::unexpected(batch.error());
  return std::make_shared<batch_sender>(std::move(*socket), std::move(*batch));
}

result<std::shared_ptr<sender>> open_ring_sender(const end_options& options) {
  l2::packet_ring_options wanted;
  wanted.socket.receives = false;
  wanted.send_slots = 4 * batch_size;
  auto ring = l2::packet_ring::create_bound(options.interface, wanted);
  if (!ring) return std::unexpected(ring.error());
  auto batch = make_frames(ring->link(), options, batch_size);
  if (!batch) return std::unexpected(batch.error());
  return std::make_shared<ring_sender>(std::move(*ring), std::move(*batch));
}

result<std::shared_ptr<receiver>> open_ring_receiver(const end_options& options) {
  constexpr std::size_t largest_block = std::size_t{1} << 18U;
  const auto least = std::bit_ceil<std::size_t>(options.mtu + 512);
  l2::packet_ring_options wanted;
  wanted.socket = receiving(options);
  wanted.socket.receive_buffer.reset();  // the ring is the memory
  wanted.block_size = std::max(
      {least, std::size_t{4096}, std::min(largest_block, std::bit_floor(options.buffer / 16))});
  wanted.block_count = std::max<std::size_t>(2, options.buffer / wanted.block_size);
  auto ring = l2::packet_ring::create_bound(options.interface, wanted);
  if (!ring) return std::unexpected(ring.error());
  return std::make_shared<ring_receiver>(std::move(*ring), options);
}

result<std::shared_ptr<receiver>> open_batch_receiver(const end_options& options) {
  auto socket = l2::raw_socket::create_bound(options.interface, receiving(options));
  if (!socket) return std::unexpected(socket.error());
  return std::make_shared<batch_receiver>(std::move(*socket), options);
}

using sender_result = result<std::shared_ptr<sender>>;
using receiver_result = result<std::shared_ptr<receiver>>;

template <class OpenSender, class OpenReceiver>
result<end> one_way(const end_options& options, OpenSender open_sender,
                    OpenReceiver open_receiver) {
  end made;
  if (options.sends) {
    sender_result out = open_sender(options);
    if (!out) return std::unexpected(out.error());
    made.out = std::move(*out);
  }
  if (options.receives) {
    receiver_result in = open_receiver(options);
    if (!in) return std::unexpected(in.error());
    made.in = std::move(*in);
  }
  return made;
}

sender_result plain_sender(const end_options& options) { return open_batch_sender(options, false); }
sender_result bypass_sender(const end_options& options) { return open_batch_sender(options, true); }

}  // namespace

result<end> open_packet(const end_options& options) {
  auto wanted = receiving(options);
  wanted.receives = options.receives;
  auto socket = l2::raw_socket::create_bound(options.interface, wanted);
  if (!socket) return std::unexpected(socket.error());
  auto batch = make_frames(socket->link(), options, 1);
  if (!batch) return std::unexpected(batch.error());
  const auto both = std::make_shared<frame_socket>(std::move(*socket), std::move(*batch), options);
  return end{.out = both, .in = both};
}

result<end> open_packet_batch(const end_options& options) {
  return one_way(options, plain_sender, open_batch_receiver);
}

result<end> open_packet_bypass(const end_options& options) {
  return one_way(options, bypass_sender, open_batch_receiver);
}

result<end> open_send_ring(const end_options& options) {
  return one_way(options, open_ring_sender, open_ring_receiver);
}

result<end> open_packet_ring(const end_options& options) {
  return one_way(options, plain_sender, open_ring_receiver);
}

result<end> open_frame_ring(const end_options& options) {
  l2::frame_ring_options wanted;
  wanted.socket = receiving(options);
  wanted.socket.receive_buffer.reset();
  auto ring = l2::frame_ring::create_bound(options.interface, wanted);
  if (!ring) return std::unexpected(ring.error());
  auto batch = make_frames(ring->link(), options, 1);
  if (!batch) return std::unexpected(batch.error());
  const auto both = std::make_shared<slot_ring>(std::move(*ring), std::move(*batch), options);
  return end{.out = both, .in = both};
}

}  // namespace strata::measure
