// The C ABI of channels: translates to the C++ library and back, without decisions of its own.
#include <cerrno>
#include <new>

#include "abi/error.hpp"
#include "abi/options.hpp"
#include "abi/waiting.hpp"
#include "strata/ipc/channel.hpp"
#include "strata/strata_ipc.h"

struct strata_channel {
  strata::ipc::channel within;
  std::vector<std::byte> waited_for{};
};

namespace {

using strata::byte_span;
using strata::errc;
using strata::abi::fail;
using strata::abi::fail_missing;
using strata::abi::limit_of;

strata::ipc::channel_config config_of(const strata_channel_options* options) {
  const auto from = strata::abi::known(options, strata_channel_defaults);
  strata::ipc::channel_config config;
  if (from.interface_name != nullptr) config.interface_name = from.interface_name;
  if (from.name != nullptr) config.channel = from.name;
  config.ethertype = from.ethertype;
  config.acknowledged = from.acknowledged != 0;
  config.max_message = from.max_message;
  config.send_buffer = from.send_buffer;
  config.receive_buffer = from.receive_buffer;
  config.max_delay = std::chrono::microseconds(from.max_delay_us);
  config.send_timeout = std::chrono::milliseconds(from.send_timeout_ms);
  config.peer_timeout = std::chrono::milliseconds(from.peer_timeout_ms);
  return config;
}

int answer(const strata::result<void>& outcome) { return outcome ? 0 : fail(outcome.error()); }

byte_span span_of(const void* bytes, size_t size) {
  return {static_cast<const std::byte*>(bytes), size};
}

}  // namespace

void strata_channel_defaults(strata_channel_options* options) {
  const strata::ipc::channel_config usual;
  *options = {.size = sizeof *options,
              .interface_name = "lo",
              .name = "default",
              .ethertype = usual.ethertype,
              .acknowledged = 0,
              .max_message = usual.max_message,
              .send_buffer = usual.send_buffer,
              .receive_buffer = usual.receive_buffer,
              .max_delay_us = static_cast<std::uint32_t>(usual.max_delay.count()),
              .send_timeout_ms = static_cast<std::uint32_t>(usual.send_timeout.count()),
              .peer_timeout_ms = static_cast<std::uint32_t>(usual.peer_timeout.count())};
}

int strata_channel_open(const strata_channel_options* options, strata_channel** channel) {
  if (channel == nullptr) return fail_missing("the output pointer for a channel");
  auto made = strata::ipc::channel::create(config_of(options));
  if (!made) return fail(made.error());
  *channel = new (std::nothrow) strata_channel{std::move(*made)};
  return *channel == nullptr ? -ENOMEM : 0;
}

void strata_channel_close(strata_channel* channel) { delete channel; }

int strata_channel_send(strata_channel* channel, const void* message, size_t size) {
  if (message == nullptr && size != 0) return fail_missing("a message");
  return answer(channel->within.send(span_of(message, size)));
}

int strata_channel_post(strata_channel* channel, const void* message, size_t size) {
  if (message == nullptr && size != 0) return fail_missing("a message");
  const auto taken = channel->within.post(span_of(message, size));
  return taken ? static_cast<int>(*taken) : fail(taken.error());
}

int strata_channel_flush(strata_channel* channel) { return answer(channel->within.flush()); }

int strata_channel_finish(strata_channel* channel, int timeout_ms) {
  return answer(
      channel->within.finish(limit_of(timeout_ms).value_or(std::chrono::hours(24 * 365))));
}

int strata_channel_receive(strata_channel* channel, int timeout_ms, strata_message* received) {
  if (received == nullptr) return fail_missing("the output pointer for a message");
  const auto there = channel->within.try_receive_view();
  if (!there) return fail(there.error());
  if (*there) {
    *received = {(*there)->bytes.data(), (*there)->bytes.size(), (*there)->sender};
    return 1;
  }
  if (timeout_ms == 0) return 0;
  auto came = timeout_ms < 0
                  ? channel->within.receive()
                  : channel->within.receive_with_timeout(std::chrono::milliseconds(timeout_ms));
  if (!came) return came.error().code == errc::timed_out ? 0 : fail(came.error());
  channel->waited_for = std::move(*came);
  *received = {channel->waited_for.data(), channel->waited_for.size(), 0};
  return 1;
}

int strata_channel_turn(strata_channel* channel) { return answer(channel->within.turn()); }

int strata_channel_fd(const strata_channel* channel) { return channel->within.fd(); }

int strata_channel_wants_to_write(const strata_channel* channel) {
  return static_cast<int>(channel->within.wants_to_write());
}

int64_t strata_channel_deadline_us(const strata_channel* channel) {
  const auto at = channel->within.deadline();
  if (!at) return -1;
  const auto left = std::chrono::ceil<std::chrono::microseconds>(
      *at - strata::ipc::channel::time_point::clock::now());
  return std::max<std::int64_t>(left.count(), 0);
}

int strata_channel_has_peer(const strata_channel* channel) {
  return static_cast<int>(channel->within.has_peer());
}

uint64_t strata_channel_id(const strata_channel* channel) { return channel->within.id(); }

int strata_channel_statistics_of(const strata_channel* channel,
                                 strata_channel_statistics* counted) {
  if (counted == nullptr || counted->size < sizeof counted->size) {
    return fail_missing("the output pointer for statistics, or its size");
  }
  const auto from = channel->within.statistics();
  strata_channel_statistics now{.size = std::min(counted->size, sizeof now),
                                .messages_sent = from.messages_sent,
                                .frames_sent = from.frames_sent,
                                .messages_received = from.messages_received,
                                .frames_received = from.frames_received,
                                .messages_lost = from.messages_lost,
                                .frames_lost = from.frames_lost,
                                .dropped = from.dropped,
                                .duplicates = from.duplicates,
                                .refused = from.refused,
                                .abandoned = from.abandoned,
                                .retransmitted = from.retransmitted};
  std::memcpy(counted, &now, now.size);
  return 0;
}
