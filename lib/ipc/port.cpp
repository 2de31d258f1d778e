// The common part of both modes, and sending. Receiving: port_receive.cpp.
#include "ipc/port.hpp"

#include <algorithm>
#include <ranges>
#include <tuple>

namespace strata::ipc {

namespace {

constexpr std::size_t least_frames_of_room = 4;
constexpr std::size_t slot_memory = std::size_t{1} << 18U;
constexpr std::size_t least_slots = 4;
// Overhead of a slot: the header, a tag in it, and the space for a tag that the kernel removed.
constexpr std::size_t slot_overhead = wire::ethernet_header_size + 2 * wire::vlan_tag_size;
// The most bytes of full frames that wait for each other, since a system call for each would cost
// half as much again. Data still in the cache is copied fastest.
constexpr std::size_t most_held_bytes = std::size_t{64} << 10U;
// With smaller payloads, fragments would have more header than message.
constexpr std::size_t least_payload = 256;

mac_address address_from(std::uint64_t hash, std::uint8_t low_bits) {
  std::array<std::uint8_t, mac_address::size> octets{};
  for (auto& each : octets | std::views::reverse) {
    each = static_cast<std::uint8_t>(hash);
    hash >>= 8U;
  }
  octets[0] = static_cast<std::uint8_t>((octets[0] & 0xFCU) | low_bits);
  return mac_address(octets);
}

result<void> check(const channel_config& config, std::size_t payload_size) {
  const auto refuse = [&](std::string reason, std::string remedy) {
    return failure(errc::invalid_argument, "open IPC channel '" + config.channel + "'",
                   std::move(reason), std::move(remedy));
  };
  constexpr std::size_t most = std::size_t{1} << 30U;
  if (config.channel.empty()) return refuse("its name is empty", "set a name");
  if (config.ethertype < wire::min_ethertype || wire::is_tpid(config.ethertype)) {
    return refuse("EtherType " + std::to_string(config.ethertype) + " is a length or a VLAN tag",
                  "use 0xAAAA, or another value from 0x0600");
  }
  if (payload_size < least_payload) {
    return refuse("the interface's MTU is " + std::to_string(payload_size), "use at least 256");
  }
  if (config.max_message == 0 || config.max_message > most) {
    return refuse("max_message is " + std::to_string(config.max_message), "use 1 to 2^30");
  }
  if (config.send_buffer > most || config.send_buffer / 2 < config.max_message) {
    return refuse("send_buffer is " + std::to_string(config.send_buffer),
                  "use at least twice max_message, and at most 2^30");
  }
  if (config.max_partial_messages == 0 || config.max_senders == 0 ||
      config.max_partial_bytes < config.max_message) {
    return refuse("its limits leave no room for a large message",
                  "use max_partial_messages and max_senders of at least 1, and max_partial_bytes "
                  "of at least max_message");
  }
  if (config.peer_timeout.count() <= 0 || config.max_delay.count() < 0) {
    return refuse("a time is not positive", "use a peer_timeout of at least 1 ms");
  }
  return {};
}

// Returns the number of frames in the outbox: enough for two messages of the largest size,
// including each fragment's headers.
std::size_t count_frames(const channel_config& config, std::size_t payload_size) {
  const auto piece = payload_size - wire::ipc_header_size - wire::ipc_fragment::head_size;
  return std::max(config.send_buffer / payload_size,
                  2 * ((config.max_message + piece - 1) / piece) + 1);
}

}  // namespace

mac_address ipc_group(std::uint64_t channel) { return address_from(channel, 0x03); }
mac_address ipc_source(std::uint64_t endpoint) { return address_from(endpoint, 0x02); }

result<std::unique_ptr<port>> port::create(const channel_config& config,
                                           std::unique_ptr<l2::device> device,
                                           std::uint64_t endpoint, std::size_t window,
                                           ipc_time now) {
  const auto payload_size = std::min<std::size_t>(device->link().mtu, wire::max_mtu);
  if (auto good = check(config, payload_size); !good) return std::unexpected(good.error());
  window = std::clamp(window, least_frames_of_room * payload_size, std::size_t{1} << 30U);
  return std::unique_ptr<port>(
      new port(config, std::move(device), endpoint, window, payload_size, now));
}

port::port(const channel_config& config, std::unique_ptr<l2::device> device, std::uint64_t endpoint,
           std::size_t window, std::size_t payload_size, ipc_time now)
    : config_(config),
      device_(std::move(device)),
      name_("IPC channel '" + config.channel + "' on " + device_->link().name),
      endpoint_(endpoint),
      channel_(wire::ipc_channel_id(config.channel)),
      header_{ipc_group(channel_), ipc_source(endpoint), {}, config.ethertype},
      out_(payload_size, count_frames(config, payload_size), header_),
      assembly_({.max_message = config.max_message,
                 .max_partial = config.max_partial_messages,
                 .max_bytes = config.max_partial_bytes,
                 .timeout = config.partial_timeout}),
      senders_(config.max_senders),
      most_held_(std::max<std::size_t>(1, most_held_bytes / payload_size)),
      departed_at_(now - config.max_delay) {
  if (config.acknowledged) {
    session_.emplace(session::options{.name = name_,
                                      .channel = channel_,
                                      .header = header_,
                                      .seed = endpoint,
                                      .window = window,
                                      .peer_timeout = config.peer_timeout},
                     out_, now);
  }
  const auto slot_size = payload_size + slot_overhead;
  slots_.resize(std::clamp(slot_memory / slot_size, least_slots, most_at_once));
  memory_.resize(slots_.size() * slot_size);
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    slots_[i].memory = mutable_byte_span(memory_).subspan(i * slot_size, slot_size);
  }
}

result<bool> port::post(byte_span message, bool hold, ipc_time now) {
  if (message.size() > config_.max_message) {
    return failure(errc::limit_exceeded,
                   "send a message of " + std::to_string(message.size()) + " bytes on " + name_,
                   "the limit is " + std::to_string(config_.max_message),
                   "raise max_message at both ends, or send less at once");
  }
  if (session_) {
    if (auto failed = session_->take_failure(now)) return std::unexpected(std::move(*failed));
  }
  if (post_beside(message)) return true;
  if (!out_.has_room_for(message.size())) {
    if (auto sent = transmit(now); !sent) return std::unexpected(sent.error());
    if (!out_.has_room_for(message.size())) return false;
  }
  append_first(message, now);
  if (!hold && now - departed_at_ >= config_.max_delay) flushing_ = true;
  if (flushing_ || held_ >= most_held_ || (held_ != 0 && now - held_at_ >= config_.max_delay)) {
    if (auto sent = transmit_accepted(now); !sent) return std::unexpected(sent.error());
  }
  return true;
}

// Appends a message that begins a frame, or is fragmented: the frame that was open is full.
void port::append_first(byte_span message, ipc_time now) {
  const auto behind = out_.closed_end();
  const auto waits_since = out_.is_open() ? opened_at_ : now;
  out_.append(message);
  ++counted_.messages_sent;
  if (held_ == 0) held_at_ = waits_since;
  held_ += static_cast<std::size_t>(out_.closed_end() - behind);
  opened_at_ = now;
}

result<void> port::flush(ipc_time now) {
  flushing_ = true;
  return transmit_accepted(now);
}

// With a session, ignores an error of the link: the session keeps its frames until they have
// arrived, and the next turn tries again and reports the error.
result<void> port::transmit_accepted(ipc_time now) {
  auto sent = transmit(now);
  return session_ ? result<void>{} : sent;
}

result<void> port::transmit(ipc_time now) {
  blocked_ = false;
  held_ = 0;
  return session_ ? transmit_planned(now) : transmit_plain(now);
}

result<void> port::transmit_plain(ipc_time now) {
  const wire::ipc_header header{.channel = channel_, .sender = endpoint_};
  std::array<byte_span, most_at_once> frames;
  for (;;) {
    if (out_.first() == out_.closed_end() && flushing_) out_.close();
    std::size_t count = 0;
    for (auto at = out_.first(); at != out_.closed_end() && count < frames.size(); ++at) {
      frames[count++] = out_.sealed(at, header);
    }
    if (count == 0) break;
    const auto taken = device_->try_send(std::span(frames).first(count));
    if (!taken) {
      // The caller gets the error; the waiting frames would be stale when the link is back.
      const auto left = out_.drop_all();
      counted_.messages_sent -= std::min(counted_.messages_sent, left);
      flushing_ = false;
      return std::unexpected(taken.error());
    }
    for (std::size_t i = 0; i < *taken; ++i) out_.drop_first();
    if (*taken == 0) {
      blocked_ = true;
      return {};
    }
    count_sent(*taken, now);
  }
  flushing_ = false;
  return {};
}

result<void> port::transmit_planned(ipc_time now) {
  std::array<byte_span, most_at_once> frames;
  for (;;) {
    const auto count = session_->plan(frames);
    if (count == 0) {
      // Waiting messages are packed together for as long as there is no room for their frame.
      if (!flushing_ || !out_.is_open()) break;
      if (!session_->is_idle_for(out_[out_.end() - 1].size)) return {};
      out_.close();
      continue;
    }
    const auto taken = device_->try_send(std::span(frames).first(count));
    if (!taken) return std::unexpected(taken.error());
    session_->sent(*taken, now);
    if (*taken == 0) {
      blocked_ = true;
      return {};
    }
    count_sent(*taken, now);
  }
  flushing_ = false;
  return {};
}

void port::count_sent(std::size_t count, ipc_time now) {
  counted_.frames_sent += count;
  departed_at_ = now;
}

result<void> port::turn(ipc_time now) {
  if (out_.is_open() && now - opened_at_ >= config_.max_delay) flushing_ = true;
  if (!session_) return transmit(now);
  auto received = receive_batches(now);
  session_->pass(now);
  auto sent = transmit(now);
  return received ? sent : received;
}

std::optional<ipc_time> port::deadline() const {
  auto next = session_ ? session_->deadline() : std::nullopt;
  if (held_ != 0 || (out_.is_open() && !flushing_)) {
    const auto oldest = held_ != 0 ? held_at_ : opened_at_;
    next = std::min(next.value_or(ipc_time::max()), oldest + config_.max_delay);
  }
  return next;
}

void port::close(ipc_time now) {
  // No caller is left to report an error to.
  std::ignore = flush(now);
  if (!session_) return;
  const auto farewell = session_->farewell();
  if (!farewell.empty()) std::ignore = device_->try_send({&farewell, 1});
}

channel_statistics port::statistics() const {
  auto made = counted_;
  made.messages_received += reading_ ? read_ : 0;
  made.frames_lost = senders_.frames_lost();
  const auto lost = senders_.messages_lost();
  // Incomplete messages are not lost yet.
  made.messages_lost = lost - std::min<std::uint64_t>(lost, assembly_.partial());
  made.abandoned += assembly_.dropped();
  if (session_) {
    made.duplicates += session_->counted().duplicates;
    made.refused += session_->counted().refused;
    made.retransmitted = session_->counted().retransmitted;
    made.messages_lost = 0;
  }
  if (const auto kernel = device_->statistics()) made.dropped = kernel->dropped;
  return made;
}

}  // namespace strata::ipc
