#include "net/l2_url.hpp"

#include <fmt/format.h>

#include <charconv>

#include "strata/wire/ethernet.hpp"

namespace strata::net {

namespace {

using refusal = std::unexpected<std::string>;

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
            ? fmt::format("'{}' is no {} from 0x{:04x} to 0x{:04x}", text, what, least, most)
            : fmt::format("'{}' is no {} from {} to {}", text, what, least, most));
  }
  return number;
}

std::expected<void, std::string> parse_member(l2_address& into, std::string_view key,
                                              std::string_view value) {
  if (key == "dst") {
    const auto mac = mac_address::from_text(value);
    if (!mac) return refusal(fmt::format("'{}' is no MAC address", value));
    into.destination = *mac;
    return {};
  }
  const bool is_vlan = key == "vlan";
  const bool is_priority = key == "prio";
  if (!is_vlan && !is_priority && key != "dei") {
    return refusal(fmt::format("'{}' is none of dst, vlan, prio and dei", key));
  }
  const auto number = is_vlan       ? parse_number(value, 0, 4094, "VLAN id")
                      : is_priority ? parse_number(value, 0, 7, "priority")
                                    : parse_number(value, 0, 1, "DEI");
  if (!number) return refusal(number.error());
  if (is_vlan) {
    into.vlan_id = static_cast<std::uint16_t>(*number);
  } else if (is_priority) {
    into.priority = static_cast<std::uint8_t>(*number);
  } else {
    into.drop_eligible = *number != 0;
  }
  return {};
}

}  // namespace

std::expected<l2_address, std::string> parse_l2(std::string_view text) {
  l2_address address;
  const auto question = text.find('?');
  const auto path = text.substr(0, question);
  if (!path.empty() && path != "/") {
    const auto type = parse_number(path.substr(1), wire::min_ethertype, 0xFFFF, "EtherType");
    if (!type) return refusal(type.error());
    address.ethertype = static_cast<std::uint16_t>(*type);
  }
  if (question == std::string_view::npos) return address;
  auto rest = text.substr(question + 1);
  while (!rest.empty()) {
    const auto member = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(member.size() + 1, rest.size()));
    const auto equals = member.find('=');
    if (equals == std::string_view::npos) {
      return refusal(fmt::format("'{}' is not NAME=VALUE", member));
    }
    auto parsed = parse_member(address, member.substr(0, equals), member.substr(equals + 1));
    if (!parsed) return refusal(parsed.error());
  }
  return address;
}

std::string write_l2(const l2_address& address) {
  std::string text = fmt::format("/0x{:04x}", address.ethertype);
  char mark = '?';
  const auto add = [&](std::string_view key, const auto& value) {
    text += fmt::format("{}{}={}", std::exchange(mark, '&'), key, value);
  };
  if (address.destination) add("dst", address.destination->text());
  if (address.vlan_id) add("vlan", *address.vlan_id);
  if (address.priority) add("prio", *address.priority);
  if (address.drop_eligible) add("dei", 1);
  return text;
}

}  // namespace strata::net
