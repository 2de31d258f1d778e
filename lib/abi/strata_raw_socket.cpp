// The C ABI of raw sockets: translates to the C++ library and back, without decisions of its own.
#include <algorithm>
#include <cerrno>
#include <new>

#include "abi/error.hpp"
#include "abi/raw_options.hpp"
#include "abi/waiting.hpp"
#include "strata/strata_l2.h"

struct strata_raw_socket {
  strata::l2::raw_socket within;
};

namespace {

using strata::mutable_byte_span;
using strata::abi::batch_of;
using strata::abi::copy_mac;
using strata::abi::fail;
using strata::abi::fail_missing;
using strata::abi::options_of;

int hand_over(strata::result<strata::l2::raw_socket> socket, strata_raw_socket** destination) {
  if (!socket) return fail(socket.error());
  *destination = new (std::nothrow) strata_raw_socket{std::move(*socket)};
  return *destination == nullptr ? -ENOMEM : 0;
}

}  // namespace

void strata_raw_socket_defaults(strata_raw_socket_options* options) {
  *options = {};
  options->size = sizeof *options;
  options->ethertype = -1;
  options->vlan_id = -1;
  options->fanout_group = -1;
  options->priority = -1;
}

int strata_raw_socket_open(const char* interface_name, const strata_raw_socket_options* options,
                           strata_raw_socket** socket) {
  if (interface_name == nullptr || socket == nullptr) return fail_missing("an interface");
  return hand_over(strata::l2::raw_socket::create_bound(interface_name, options_of(options)),
                   socket);
}

int strata_raw_socket_open_through_daemon(const char* daemon_socket, const char* interface_name,
                                          const strata_raw_socket_options* options,
                                          strata_raw_socket** socket) {
  if (interface_name == nullptr || socket == nullptr) return fail_missing("an interface");
  return hand_over(strata::l2::raw_socket::open_through_daemon(
                       interface_name, options_of(options),
                       daemon_socket == nullptr ? strata::broker::default_path() : daemon_socket),
                   socket);
}

void strata_raw_socket_close(strata_raw_socket* socket) { delete socket; }

int strata_raw_socket_fd(const strata_raw_socket* socket) { return socket->within.fd(); }

void strata_raw_socket_mac(const strata_raw_socket* socket, uint8_t mac[6]) {
  copy_mac(socket->within.link().mac, mac);
}

uint32_t strata_raw_socket_mtu(const strata_raw_socket* socket) {
  return socket->within.link().mtu;
}

int strata_raw_socket_send(strata_raw_socket* socket, const void* frame, size_t size) {
  const auto sent = socket->within.send_raw({static_cast<const std::byte*>(frame), size});
  return sent ? 0 : fail(sent.error());
}

int strata_raw_socket_send_batch(strata_raw_socket* socket, const struct iovec* frames,
                                 size_t count, size_t* sent) {
  const auto taken = socket->within.try_send(batch_of(frames, count).spans());
  if (!taken) return fail(taken.error());
  *sent = *taken;
  return 0;
}

int strata_raw_socket_receive(strata_raw_socket* socket, void* memory, size_t size, int timeout_ms,
                              strata_received* received) {
  const mutable_byte_span room(static_cast<std::byte*>(memory), size);
  const auto frame = timeout_ms < 0 ? socket->within.receive(room)
                                    : socket->within.receive_with_timeout(
                                          room, std::chrono::milliseconds(timeout_ms));
  if (!frame) return fail(frame.error());
  *received = strata::abi::received_of(*frame);
  return 0;
}

int strata_raw_socket_statistics(strata_raw_socket* socket, uint64_t* received, uint64_t* dropped) {
  const auto counted = socket->within.statistics();
  if (!counted) return fail(counted.error());
  *received = counted->received;
  *dropped = counted->dropped;
  return 0;
}

int strata_raw_socket_receive_batch(strata_raw_socket* socket, strata_slot* slots, size_t count,
                                    int timeout_ms, size_t* received) {
  if (slots == nullptr || received == nullptr) return fail_missing("slots");
  std::array<strata::l2::frame_slot, strata::l2::raw_socket::max_batch> within;
  const auto batch = std::min(count, within.size());
  for (std::size_t i = 0; i < batch; ++i) {
    within[i].memory = {static_cast<std::byte*>(slots[i].memory), slots[i].size};
  }
  const auto some = std::span(within).first(batch);
  const auto taken = strata::abi::wait_for_some(socket->within, timeout_ms,
                                                [&] { return socket->within.try_receive(some); });
  if (!taken) return fail(taken.error());
  for (std::size_t i = 0; i < *taken; ++i) {
    slots[i].frame = strata::abi::received_of(within[i].frame);
  }
  *received = *taken;
  return 0;
}
