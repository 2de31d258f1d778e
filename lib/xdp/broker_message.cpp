#include "xdp/broker_message.hpp"

#include <algorithm>
#include <cstring>

namespace strata::xdp {

namespace {

template <class Number>
std::int32_t number_of(const std::optional<Number>& value) {
  return value ? static_cast<std::int32_t>(*value) : -1;
}

std::optional<std::uint16_t> value_of(std::int32_t number) {
  if (number < 0) return {};
  return static_cast<std::uint16_t>(number);
}

}  // namespace

request_message to_message(const broker_request& request) {
  request_message message;
  message.interface_name = broker::name_in_message(request.interface_name);
  message.queue = request.queue;
  message.ethertype = number_of(request.which.ethertype);
  message.vlan_id = number_of(request.which.vlan_id);
  message.udp_port = number_of(request.which.udp_port);
  if (request.which.destination) {
    message.has_destination = 1;
    std::ranges::copy(request.which.destination->octets(), message.destination.begin());
  }
  message.attach = static_cast<std::uint8_t>(request.attach);
  message.mode = static_cast<std::uint8_t>(request.socket.mode);
  message.frame_count = request.memory.frame_count;
  message.frame_size = request.memory.frame_size;
  message.headroom = request.memory.headroom;
  message.unaligned = static_cast<std::uint8_t>(request.memory.unaligned);
  message.need_wakeup = static_cast<std::uint8_t>(request.socket.need_wakeup);
  message.multi_buffer = static_cast<std::uint8_t>(request.socket.multi_buffer);
  if (request.socket.busy_poll) {
    message.has_busy_poll = 1;
    message.busy_poll_us = static_cast<std::uint32_t>(request.socket.busy_poll->duration.count());
    message.busy_poll_budget = request.socket.busy_poll->budget;
  }
  message.receive_size = request.socket.receive_size;
  message.transmit_size = request.socket.transmit_size;
  message.fill_size = request.socket.fill_size;
  message.completion_size = request.socket.completion_size;
  return message;
}

result<broker_request> parse_request(byte_span bytes) {
  request_message message;
  const bool is_whole = bytes.size() == sizeof message;
  if (is_whole) std::memcpy(&message, bytes.data(), sizeof message);
  const bool is_right = is_whole && broker::is_name(message.interface_name) &&
                        message.attach <= static_cast<std::uint8_t>(attach_mode::generic) &&
                        message.mode <= static_cast<std::uint8_t>(copy_mode::zerocopy) &&
                        message.ethertype <= 0xFFFF && message.vlan_id <= 0x0FFF &&
                        message.udp_port <= 0xFFFF && message.busy_poll_budget <= 0xFFFF;
  if (!is_right) {
    return failure(errc::malformed, "read a request for an AF_XDP socket",
                   "its version is not supported, or it is damaged");
  }
  broker_request what;
  what.interface_name = message.interface_name.data();
  what.queue = message.queue;
  what.which = {.ethertype = value_of(message.ethertype),
                .vlan_id = value_of(message.vlan_id),
                .destination = {},
                .udp_port = value_of(message.udp_port)};
  if (message.has_destination != 0) {
    what.which.destination = mac_address(std::as_bytes(std::span(message.destination)));
  }
  what.attach = static_cast<attach_mode>(message.attach);
  what.memory = {.frame_count = message.frame_count,
                 .frame_size = message.frame_size,
                 .headroom = message.headroom,
                 .unaligned = message.unaligned != 0};
  what.socket = {.receive_size = message.receive_size,
                 .transmit_size = message.transmit_size,
                 .fill_size = message.fill_size,
                 .completion_size = message.completion_size,
                 .mode = static_cast<copy_mode>(message.mode),
                 .need_wakeup = message.need_wakeup != 0,
                 .multi_buffer = message.multi_buffer != 0,
                 .busy_poll = {}};
  if (message.has_busy_poll != 0) {
    what.socket.busy_poll = {.duration = std::chrono::microseconds(message.busy_poll_us),
                             .budget = static_cast<std::uint16_t>(message.busy_poll_budget)};
  }
  return what;
}

}  // namespace strata::xdp
