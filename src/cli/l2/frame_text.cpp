#include "cli/l2/frame_text.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <nlohmann/json.hpp>

#include "strata/wire/arp.hpp"
#include "strata/wire/ethernet.hpp"
#include "strata/wire/ipv4.hpp"
#include "strata/wire/probe.hpp"
#include "strata/wire/udp.hpp"
#include "text/readable.hpp"

namespace strata::cli {

using nlohmann::json;

namespace {

constexpr std::size_t most_letters = 60;

std::string clock_time(std::uint64_t time_ns) {
  const auto seconds = static_cast<std::time_t>(time_ns / 1'000'000'000U);
  return fmt::format("{:%H:%M:%S}.{:06}", fmt::localtime(seconds),
                     time_ns % 1'000'000'000U / 1000U);
}

std::string hex_of(byte_span bytes) {
  std::string text;
  for (const auto each : bytes) text += fmt::format("{:02x}", std::to_integer<unsigned>(each));
  return text;
}

std::string describe_tag(const wire::vlan_tag& tag) {
  return fmt::format("{} {} prio {}{}", tag.tpid == wire::tpid_service ? "service vlan" : "vlan",
                     tag.tci.vlan_id, tag.tci.priority, tag.tci.dei ? " dei" : "");
}

std::string describe_arp(byte_span packet) {
  const auto seen = wire::arp::parse(packet);
  if (!seen) return "ARP, not for IPv4 or cut";
  if (seen->operation == wire::arp::request) {
    return fmt::format("ARP who has {}? tell {}", seen->target.text(), seen->sender.text());
  }
  return fmt::format("ARP {} is at {}", seen->sender.text(), seen->sender_mac.text());
}

std::string describe_ipv4(byte_span packet) {
  const auto seen = wire::ipv4_view::parse(packet);
  if (!seen) return "IPv4, malformed";
  const auto whole = fmt::format("IPv4 {} > {}", seen->source().text(), seen->destination().text());
  if (seen->fragment_offset() != 0) {
    return whole + fmt::format(", fragment at {}", seen->fragment_offset());
  }
  if (seen->protocol() == wire::protocol_udp) {
    const auto datagram = wire::udp_view::parse(seen->payload());
    if (!datagram) return whole + ", UDP, malformed";
    return whole + fmt::format(", UDP {} > {}, {} B", datagram->source_port(),
                               datagram->destination_port(), datagram->payload().size());
  }
  if (seen->protocol() == wire::protocol_tcp) return whole + ", TCP";
  if (seen->protocol() == wire::protocol_icmp) return whole + ", ICMP";
  return whole + fmt::format(", protocol {}", seen->protocol());
}

std::string_view name_of_probe(wire::probe_kind kind) {
  switch (kind) {
    case wire::probe_kind::request: return "request";
    case wire::probe_kind::answer: return "answer";
    case wire::probe_kind::load: break;
  }
  return "frame";
}

std::string describe_payload(const wire::ethernet_view& view) {
  if (const auto llc = view.llc()) {
    return fmt::format("802.3 length {}, LLC dsap 0x{:02x} ssap 0x{:02x} control 0x{:02x}",
                       *view.length(), llc->dsap, llc->ssap, llc->control);
  }
  if (view.length()) return fmt::format("802.3 length {}", *view.length());
  switch (view.type_field()) {
    case wire::ethertype_arp: return describe_arp(view.payload());
    case wire::ethertype_ipv4: return describe_ipv4(view.payload());
    case wire::ethertype_ipv6: return "IPv6";
    case wire::ethertype_lldp: return "LLDP";
    default: break;
  }
  return fmt::format("type {}: {}", hex_type(view.type_field()), message_text(view, most_letters));
}

}  // namespace

std::string hex_type(std::uint16_t type) { return fmt::format("0x{:04x}", type); }

std::string message_text(const wire::ethernet_view& view, std::size_t limit) {
  if (const auto probe = wire::probe::parse(view.payload())) {
    return fmt::format("({} {} of l2 {})", name_of_probe(probe->kind), probe->sequence,
                       probe->kind == wire::probe_kind::load ? "flood" : "ping");
  }
  const auto message = as_text(view.message());
  return text::printable(message.substr(0, limit)) + (message.size() > limit ? "..." : "");
}

std::string describe_frame(const l2::received_frame& frame) {
  std::string text = frame.time_ns != 0 ? clock_time(frame.time_ns) + " " : "";
  const auto view = wire::ethernet_view::parse(frame.bytes);
  if (!view) return text + fmt::format("{} B, cut within its header", frame.wire_size);
  text += fmt::format("{} > {}", view->source().text(), view->destination().text());
  for (const auto& tag : view->tags()) text += ", " + describe_tag(tag);
  text += fmt::format(", {} B, {}", frame.wire_size, describe_payload(*view));
  if (frame.is_truncated()) text += fmt::format(" [cut to {} B]", frame.bytes.size());
  if (view->missing() != 0) text += fmt::format(" [{} B are missing]", view->missing());
  return text;
}

json frame_to_json(const l2::received_frame& frame) {
  json made{
      {"time_ns", frame.time_ns}, {"size", frame.wire_size}, {"truncated", frame.is_truncated()},
      {"destination", nullptr},   {"source", nullptr},       {"tags", json::array()},
      {"ethertype", nullptr},     {"length", nullptr},       {"message", nullptr},
      {"payload_hex", nullptr}};
  const auto view = wire::ethernet_view::parse(frame.bytes);
  if (!view) return made;
  made["destination"] = view->destination().text();
  made["source"] = view->source().text();
  for (const auto& tag : view->tags()) {
    made["tags"].push_back({{"tpid", hex_type(tag.tpid)},
                            {"priority", tag.tci.priority},
                            {"dei", tag.tci.dei},
                            {"vlan_id", tag.tci.vlan_id}});
  }
  if (view->ethertype()) made["ethertype"] = hex_type(*view->ethertype());
  if (view->length()) made["length"] = *view->length();
  made["message"] = text::printable(as_text(view->message()));
  made["payload_hex"] = hex_of(view->payload());
  return made;
}

}  // namespace strata::cli
