#include "strata/l2/broker.hpp"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "l2/packet_socket.hpp"

namespace strata::l2 {

namespace {

/// An optional address.
struct address_message {
  std::uint8_t is_given = 0;
  std::array<std::uint8_t, mac_address::size> octets{};
};

/// A request for an AF_PACKET socket over a broker's channel. Any change of the message requires a
/// new broker::kind.
struct request_message {
  broker::name interface_name{};
  std::int32_t ethertype = -1;
  std::int32_t vlan_id = -1;
  address_message source;
  address_message destination;
  address_message not_source;
  std::uint8_t untagged = 0;
  std::uint8_t receives = 0;
  std::uint8_t ignore_outgoing = 0;
  std::uint8_t promiscuous = 0;
};

/// Sent together with the socket's descriptor.
struct grant_message {
  std::int32_t interface_index = 0;
};

address_message said(const std::optional<mac_address>& address) {
  address_message message{.is_given = static_cast<std::uint8_t>(address.has_value()), .octets = {}};
  if (address) message.octets = address->octets();
  return message;
}

std::optional<mac_address> decoded(const address_message& message) {
  if (message.is_given == 0) return {};
  return mac_address(std::as_bytes(std::span(message.octets)));
}

std::int32_t said(const std::optional<std::uint16_t>& number) {
  return number ? static_cast<std::int32_t>(*number) : -1;
}

std::optional<std::uint16_t> decoded(std::int32_t number) {
  if (number < 0) return {};
  return static_cast<std::uint16_t>(number);
}

request_message to_message(std::string_view interface_name, const raw_socket_options& options) {
  return {.interface_name = broker::name_in_message(interface_name),
          .ethertype = said(options.filter.ethertype),
          .vlan_id = said(options.filter.vlan_id),
          .source = said(options.filter.source),
          .destination = said(options.filter.destination),
          .not_source = said(options.filter.not_source),
          .untagged = static_cast<std::uint8_t>(options.filter.untagged),
          .receives = static_cast<std::uint8_t>(options.receives),
          .ignore_outgoing = static_cast<std::uint8_t>(options.ignore_outgoing),
          .promiscuous = static_cast<std::uint8_t>(options.promiscuous)};
}

}  // namespace

result<raw_socket> raw_socket::open_through_daemon(std::string_view interface_name,
                                                   const raw_socket_options& options,
                                                   const std::string& path) {
  if (options.share) {
    return failure(errc::not_supported,
                   "join fanout group " + std::to_string(options.share->group) +
                       " with a raw socket from the daemon",
                   "for security, the daemon puts each socket in its own group");
  }
  auto found = interface::query(interface_name);
  if (!found) return std::unexpected(found.error());
  grant_message given;
  auto got =
      broker::ask(path, broker::kind::packet, broker::bytes_of(to_message(interface_name, options)),
                  std::as_writable_bytes(std::span(&given, 1)));
  if (!got) return std::unexpected(got.error());
  // In a daemon of another network namespace, the name may be that of another interface.
  if (given.interface_index != found->index) {
    return failure(errc::conflict, "use a raw socket on '" + found->name + "' from the daemon",
                   "the daemon's interface of this name is a different one",
                   "run this program in the daemon's network namespace");
  }
  const int fd = got->descriptors[0].get();
  if (auto done = set_adopted_options(fd, *found, options); !done) {
    return std::unexpected(done.error());
  }
  return raw_socket(std::move(*found), std::move(got->descriptors[0]), options);
}

result<packet_request> parse_request(byte_span bytes) {
  request_message message;
  const bool is_whole = bytes.size() == sizeof message;
  if (is_whole) std::memcpy(&message, bytes.data(), sizeof message);
  if (!is_whole || !broker::is_name(message.interface_name) || message.ethertype > 0xFFFF ||
      message.vlan_id > 0x0FFF || (message.untagged != 0 && message.vlan_id >= 0)) {
    return failure(errc::malformed, "read a request for an AF_PACKET socket",
                   "its version is not supported, or it is damaged");
  }
  return packet_request{.interface_name = message.interface_name.data(),
                        .filter = {.ethertype = decoded(message.ethertype),
                                   .vlan_id = decoded(message.vlan_id),
                                   .untagged = message.untagged != 0,
                                   .source = decoded(message.source),
                                   .destination = decoded(message.destination),
                                   .not_source = decoded(message.not_source),
                                   .interface_index = {}},
                        .receives = message.receives != 0,
                        .ignore_outgoing = message.ignore_outgoing != 0,
                        .promiscuous = message.promiscuous != 0};
}

result<void> grant_request(int connection, const packet_request& request) {
  auto on = interface::query(request.interface_name);
  if (!on) return std::unexpected(on.error());
  raw_socket_options options;
  options.filter = request.filter;
  options.filter.interface_index = on->index;
  options.filter.incoming_only = request.ignore_outgoing;
  options.receives = request.receives;
  options.ignore_outgoing = request.ignore_outgoing;
  options.promiscuous = request.promiscuous;
  const auto made = open_packet_socket(*on, options);
  if (!made) return std::unexpected(made.error());
  if (auto locked = confine(made->get(), options); !locked) return locked;
  if (auto bound = bind_packet_socket(made->get(), *on, options); !bound) return bound;
  if (auto alone = seclude(made->get(), *on, options); !alone) return alone;
  const grant_message message{.interface_index = on->index};
  const std::array<int, 1> descriptors = {made->get()};
  return broker::hand_over(connection, broker::bytes_of(message), descriptors);
}

}  // namespace strata::l2
