#include "net/ethernet/ethernet_url.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>

#include "strata/wire/ethernet.hpp"

namespace strata::net {

namespace {

using refusal = std::unexpected<std::string>;
using outcome = std::expected<void, std::string>;

constexpr unsigned largest_queue = 1023;

constexpr std::array<std::pair<std::string_view, xdp_mode>, 3> modes = {
    std::pair{"native", xdp_mode::native},
    {"generic", xdp_mode::generic},
    {"zerocopy", xdp_mode::zerocopy}};

constexpr std::array<std::pair<std::string_view, l2_padding>, 3> paddings = {
    std::pair{"strip", l2_padding::strip},
    {"keep", l2_padding::keep},
    {"length", l2_padding::length}};

std::expected<unsigned, std::string> parse_number(std::string_view text, unsigned least,
                                                  unsigned most, std::string_view what) {
  std::string_view digits = text;
  const bool is_hex = digits.starts_with("0x") || digits.starts_with("0X");
  if (is_hex) digits.remove_prefix(2);
  unsigned number = 0;
  const char* const end = digits.data() + digits.size();
  const auto [rest, code] = std::from_chars(digits.data(), end, number, is_hex ? 16 : 10);
  if (digits.empty() || code != std::errc{} || rest != end || number < least || number > most) {
    return refusal(
        is_hex || least > 4095
            ? fmt::format("'{}' is not a valid {}: write 0x{:04x} to 0x{:04x}", text, what, least,
                          most)
            : fmt::format("'{}' is not a valid {}: write {} to {}", text, what, least, most));
  }
  return number;
}

outcome parse_ethertype(l2_address& address, std::string_view text) {
  const auto type = parse_number(text, wire::min_ethertype, 0xFFFF, "EtherType");
  if (!type) return refusal(type.error());
  if (wire::is_tpid(static_cast<std::uint16_t>(*type))) {
    return refusal(fmt::format("EtherType '{}' marks a VLAN tag: write ?vlan=ID", text));
  }
  address.ethertype = static_cast<std::uint16_t>(*type);
  return {};
}

outcome parse_mode(xdp_address& address, std::string_view text) {
  for (const auto& [name, mode] : modes) {
    if (name != text) continue;
    address.mode = mode;
    return {};
  }
  return refusal(fmt::format("'{}' is not one of native, generic and zerocopy", text));
}

outcome parse_padding(l2_address& address, std::string_view text) {
  for (const auto& [name, padding] : paddings) {
    if (name != text) continue;
    address.padding = padding;
    return {};
  }
  return refusal(fmt::format("'{}' is not one of strip, keep and length", text));
}

outcome parse_member(l2_address& address, std::string_view key, std::string_view value,
                     std::string_view others) {
  if (key == "dst") {
    const auto mac = mac_address::from_text(value);
    if (!mac) return refusal(fmt::format("'{}' is not a MAC address", value));
    address.destination = *mac;
    return {};
  }
  if (key == "pad") return parse_padding(address, value);
  const bool is_vlan = key == "vlan";
  const bool is_priority = key == "prio";
  if (!is_vlan && !is_priority && key != "dei") {
    return refusal(fmt::format("'{}' is not one of {}dst, vlan, prio, dei and pad", key, others));
  }
  const auto number = is_vlan       ? parse_number(value, 0, 4094, "VLAN id")
                      : is_priority ? parse_number(value, 0, 7, "priority")
                                    : parse_number(value, 0, 1, "DEI");
  if (!number) return refusal(number.error());
  if (is_vlan) {
    address.vlan_id = static_cast<std::uint16_t>(*number);
  } else if (is_priority) {
    address.priority = static_cast<std::uint8_t>(*number);
  } else {
    address.drop_eligible = *number != 0;
  }
  return {};
}

/// Passes each `KEY=VALUE` of `?KEY=VALUE&…` to `take`.
template <class Take>
outcome parse_query(std::string_view text, const Take& take) {
  while (!text.empty()) {
    text.remove_prefix(1);
    const auto member = text.substr(0, text.find('&'));
    text.remove_prefix(member.size());
    if (member.empty()) continue;
    const auto equals = member.find('=');
    if (equals == std::string_view::npos) {
      return refusal(fmt::format("'{}' is not NAME=VALUE", member));
    }
    if (auto taken = take(member.substr(0, equals), member.substr(equals + 1)); !taken) {
      return taken;
    }
  }
  return {};
}

/// Returns the text between the first slash and the query; empty if there is none.
std::string_view path_of(std::string_view text) {
  const auto path = text.substr(0, text.find('?'));
  return path.empty() ? path : path.substr(1);
}

std::string_view query_of(std::string_view text) {
  return text.substr(std::min(text.find('?'), text.size()));
}

class query_writer {
 public:
  explicit query_writer(std::string start) : text_(std::move(start)) {}
  void add(std::string_view key, const auto& value) {
    text_ += fmt::format("{}{}={}", std::exchange(mark_, '&'), key, value);
  }
  std::string take(const l2_address& address) {
    if (address.destination) add("dst", address.destination->text());
    if (address.vlan_id) add("vlan", *address.vlan_id);
    if (address.priority) add("prio", *address.priority);
    if (address.drop_eligible) add("dei", 1);
    for (const auto& [name, padding] : paddings) {
      if (padding == address.padding && padding != l2_padding::strip) add("pad", name);
    }
    return std::move(text_);
  }

 private:
  std::string text_;
  char mark_ = '?';
};

}  // namespace

outcome parse_l2(std::string_view text, endpoint_url& url) {
  if (const auto type = path_of(text); !type.empty()) {
    if (auto parsed = parse_ethertype(url.l2, type); !parsed) return parsed;
  }
  return parse_query(query_of(text), [&](std::string_view key, std::string_view value) {
    return parse_member(url.l2, key, value, "");
  });
}

outcome parse_xdp(std::string_view text, endpoint_url& url) {
  if (const auto queue = path_of(text); !queue.empty()) {
    const auto number = parse_number(queue, 0, largest_queue, "queue");
    if (!number) return refusal(number.error());
    url.xdp.queue = *number;
  }
  return parse_query(query_of(text), [&](std::string_view key, std::string_view value) {
    if (key == "ethertype") return parse_ethertype(url.l2, value);
    if (key == "mode") return parse_mode(url.xdp, value);
    return parse_member(url.l2, key, value, "ethertype, mode, ");
  });
}

std::string write_l2(const endpoint_url& url) {
  return query_writer(fmt::format("/0x{:04x}", url.l2.ethertype)).take(url.l2);
}

std::string write_xdp(const endpoint_url& url) {
  query_writer text(fmt::format("/{}", url.xdp.queue));
  text.add("ethertype", fmt::format("0x{:04x}", url.l2.ethertype));
  for (const auto& [name, mode] : modes) {
    if (mode == url.xdp.mode) text.add("mode", name);
  }
  return text.take(url.l2);
}

}  // namespace strata::net
