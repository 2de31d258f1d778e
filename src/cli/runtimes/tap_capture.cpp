#include "cli/runtimes/tap_capture.hpp"

#include <arpa/inet.h>

#include <array>
#include <optional>
#include <string_view>

#include "proto/websocket/websocket_frame.hpp"
#include "text/utf8.hpp"

namespace strata::cli {

namespace {

// Tags of Wireshark's exported PDUs (wireshark, epan/exported_pdu.h). Numbers are big-endian, and a
// value is padded to a multiple of four bytes, which its length counts.
enum class tag : std::uint16_t {
  end = 0,
  dissector = 12,
  dissector_table = 14,
  ipv4_source = 20,
  ipv4_destination = 21,
  ipv6_source = 22,
  ipv6_destination = 23,
  port_type = 24,
  source_port = 25,
  destination_port = 26,
  number_in_table = 32,
};
// Wireshark knows the dissector of RESP by its port alone.
constexpr std::uint32_t port_of_redis = 6379;
constexpr std::uint32_t port_of_tcp = 2;

void append_number(std::string& packet, std::uint16_t number) {
  packet += static_cast<char>(number >> 8U);
  packet += static_cast<char>(number & 0xFFU);
}

void append_tag(std::string& packet, tag tag, std::string_view value) {
  const auto padded = (value.size() + 3) & ~std::size_t{3};
  append_number(packet, static_cast<std::uint16_t>(tag));
  append_number(packet, static_cast<std::uint16_t>(padded));
  packet += value;
  packet.append(padded - value.size(), '\0');
}

void append_tag(std::string& packet, tag tag, std::uint32_t value) {
  const auto ordered = htonl(value);
  append_tag(packet, tag, {reinterpret_cast<const char*>(&ordered), sizeof ordered});
}

struct endpoint {
  std::string host;
  std::uint16_t port = 0;
};

/// `1.2.3.4:5` or `[::1]:5`. Nullopt: it is no such address.
std::optional<endpoint> read_endpoint(std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  auto host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  std::uint32_t port = 0;
  for (const auto digit : text.substr(colon + 1)) {
    if (digit < '0' || digit > '9' || port > 0xFFFF) return std::nullopt;
    port = port * 10 + static_cast<std::uint32_t>(digit - '0');
  }
  return endpoint{std::string(host), static_cast<std::uint16_t>(port)};
}

// The client is the source of what it sends, and the destination of what it receives. The address
// of the other end, the runtime, is not in a line of the tap.
void append_ends(std::string& packet, const tapped_line& line) {
  const auto client = read_endpoint(line.address);
  if (!client) return;
  std::array<char, sizeof(in6_addr)> address{};
  const bool is_source = !line.is_outgoing;
  if (::inet_pton(AF_INET, client->host.c_str(), address.data()) == 1) {
    append_tag(packet, is_source ? tag::ipv4_source : tag::ipv4_destination,
               {address.data(), sizeof(in_addr)});
  } else if (::inet_pton(AF_INET6, client->host.c_str(), address.data()) == 1) {
    append_tag(packet, is_source ? tag::ipv6_source : tag::ipv6_destination,
               {address.data(), address.size()});
  } else {
    return;
  }
  append_tag(packet, tag::port_type, port_of_tcp);
  append_tag(packet, is_source ? tag::source_port : tag::destination_port, client->port);
}

bool is_websocket(const tapped_line& line) {
  return line.form == "message" && (line.protocol == "ws" || line.protocol == "wss");
}

void append_dissector(std::string& packet, const tapped_line& line) {
  if (line.form == "command") {
    append_tag(packet, tag::dissector_table, "tcp.port");
    append_tag(packet, tag::number_in_table, port_of_redis);
    return;
  }
  const bool is_http = line.form == "request" || line.form == "answer";
  append_tag(packet, tag::dissector, is_http ? "http" : is_websocket(line) ? "websocket" : "data");
}

}  // namespace

std::string packet_of(const tapped_line& line) {
  std::string packet;
  append_dissector(packet, line);
  append_ends(packet, line);
  append_tag(packet, tag::end, std::string_view());
  if (is_websocket(line)) {
    using enum proto::websocket_opcode;
    const auto opcode = text::is_utf8(line.bytes) ? text : binary;
    const auto head = proto::websocket_head_for({.opcode = opcode}, line.bytes.size());
    packet += as_text(head.span());
  }
  return packet + line.bytes;
}

}  // namespace strata::cli
