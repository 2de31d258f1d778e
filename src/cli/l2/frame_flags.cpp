#include "cli/l2/frame_flags.hpp"

#include <fmt/format.h>

#include <charconv>

#include "strata/wire/ethernet.hpp"

namespace strata::cli {

outcome<std::optional<std::uint16_t>> ethertype_flag(const invocation& call,
                                                     std::optional<std::uint16_t> otherwise) {
  if (!call.flags.contains("ethertype")) return otherwise;
  const auto given = call.text("ethertype");
  std::string_view digits = given;
  const bool is_hex = digits.starts_with("0x") || digits.starts_with("0X");
  if (is_hex) digits.remove_prefix(2);
  std::uint16_t type = 0;
  const char* const end = digits.data() + digits.size();
  const auto [rest, code] = std::from_chars(digits.data(), end, type, is_hex ? 16 : 10);
  if (digits.empty() || code != std::errc{} || rest != end || type < wire::min_ethertype) {
    return refuse(exit_misused,
                  fmt::format("--ethertype cannot be '{}': use 0x0600 to 0xffff", given));
  }
  if (wire::is_tpid(type)) {
    return refuse(
        exit_misused,
        fmt::format("--ethertype cannot be '{}', which marks a VLAN tag: use --vlan", given));
  }
  return type;
}

outcome<std::optional<mac_address>> mac_flag(const invocation& call, std::string_view key) {
  if (!call.flags.contains(key)) return std::nullopt;
  const auto parsed = mac_address::from_text(call.text(key));
  if (!parsed) {
    return refuse(exit_misused, fmt::format("--{}: {}", key, describe(parsed.error())));
  }
  return *parsed;
}

std::vector<wire::vlan_tag> tag_flags(const invocation& call) {
  std::vector<wire::vlan_tag> tags;
  const auto number = [&](std::string_view key) { return call.flags.value(key, std::uint16_t{0}); };
  if (call.flags.contains("outer")) {
    tags.push_back({wire::tpid_service, {.vlan_id = number("outer")}});
  }
  if (call.flags.contains("vlan") || call.flags.contains("prio") || call.is_set("dei")) {
    tags.push_back({wire::tpid_customer,
                    {.priority = static_cast<std::uint8_t>(number("prio")),
                     .dei = call.is_set("dei"),
                     .vlan_id = number("vlan")}});
  }
  return tags;
}

}  // namespace strata::cli
