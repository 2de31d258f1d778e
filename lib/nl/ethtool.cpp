#include "strata/nl/ethtool.hpp"

#include <linux/ethtool.h>
#include <linux/ethtool_netlink.h>

#include <algorithm>
#include <array>
#include <utility>

namespace strata::nl {

namespace {

std::optional<std::uint32_t> number_of(const wire::netlink_attributes& all, std::uint16_t type) {
  const auto found = all.find(type);
  return found ? found->number<std::uint32_t>() : std::nullopt;
}

bounded_count count_of(const wire::netlink_attributes& all, std::uint16_t now, std::uint16_t most) {
  return {.now = number_of(all, now), .most = number_of(all, most)};
}

void put(wire::netlink_writer& writer, std::uint16_t type, std::optional<std::uint32_t> value) {
  if (value) writer.put_number(type, *value);
}

/// Returns the names of the set bits. Only the long form has names; the kernel sends it unless the
/// request asks for the compact form.
std::vector<std::string_view> set_bits(const wire::netlink_attributes& bitset) {
  std::vector<std::string_view> names;
  const bool lists_set = bitset.find(ETHTOOL_A_BITSET_NOMASK).has_value();
  for (const auto& each : bitset.nest(ETHTOOL_A_BITSET_BITS)) {
    const wire::netlink_attributes bit(each.value());
    const auto name = bit.find(ETHTOOL_A_BITSET_BIT_NAME);
    if (name && (lists_set || bit.find(ETHTOOL_A_BITSET_BIT_VALUE))) names.push_back(name->text());
  }
  return names;
}

bool holds(const std::vector<std::string_view>& names, std::string_view text) {
  return std::ranges::find(names, text) != names.end();
}

}  // namespace

result<ethtool> ethtool::open(const connection_options& options) {
  auto on = generic::open(options);
  if (!on) return std::unexpected(on.error());
  const auto family = on->resolve(ETHTOOL_GENL_NAME);
  if (!family) return std::unexpected(family.error());
  return ethtool(std::move(*on), *family);
}

wire::netlink_writer ethtool::request(std::uint8_t command, std::uint16_t header,
                                      std::string_view interface_name) {
  auto made = on_.over().request();
  wire::begin_genl(made, family_, wire::netlink_flag::request | wire::netlink_flag::ack, command,
                   ETHTOOL_GENL_VERSION)
      .open_nest(header);
  if (!interface_name.empty()) made.put_text(ETHTOOL_A_HEADER_DEV_NAME, interface_name);
  made.close_nest();
  return made;
}

result<wire::netlink_attributes> ethtool::ask(wire::netlink_writer& request, std::string_view text,
                                              std::string_view interface_name) {
  const auto operation = std::string(text) + " '" + std::string(interface_name) + "'";
  const auto reply = on_.over().ask(request, operation);
  if (!reply) return std::unexpected(reply.error());
  if (reply->is(wire::netlink_control::error)) return wire::netlink_attributes();
  const auto message = wire::genl_message::parse(*reply);
  if (message) return message->attributes;
  return failure(errc::malformed, operation, "the kernel's reply is truncated");
}

result<interface_rings> ethtool::rings(std::string_view interface_name) {
  auto asked = request(ETHTOOL_MSG_RINGS_GET, ETHTOOL_A_RINGS_HEADER, interface_name);
  const auto reported = ask(asked, "read the rings of", interface_name);
  if (!reported) return std::unexpected(reported.error());
  return interface_rings{
      .rx = count_of(*reported, ETHTOOL_A_RINGS_RX, ETHTOOL_A_RINGS_RX_MAX),
      .rx_mini = count_of(*reported, ETHTOOL_A_RINGS_RX_MINI, ETHTOOL_A_RINGS_RX_MINI_MAX),
      .rx_jumbo = count_of(*reported, ETHTOOL_A_RINGS_RX_JUMBO, ETHTOOL_A_RINGS_RX_JUMBO_MAX),
      .tx = count_of(*reported, ETHTOOL_A_RINGS_TX, ETHTOOL_A_RINGS_TX_MAX)};
}

result<void> ethtool::set_rings(std::string_view interface_name, const ring_change& change) {
  auto asked = request(ETHTOOL_MSG_RINGS_SET, ETHTOOL_A_RINGS_HEADER, interface_name);
  put(asked, ETHTOOL_A_RINGS_RX, change.rx);
  put(asked, ETHTOOL_A_RINGS_RX_MINI, change.rx_mini);
  put(asked, ETHTOOL_A_RINGS_RX_JUMBO, change.rx_jumbo);
  put(asked, ETHTOOL_A_RINGS_TX, change.tx);
  const auto reported = ask(asked, "set the rings of", interface_name);
  if (!reported) return std::unexpected(reported.error());
  return {};
}

result<interface_channels> ethtool::channels(std::string_view interface_name) {
  auto asked = request(ETHTOOL_MSG_CHANNELS_GET, ETHTOOL_A_CHANNELS_HEADER, interface_name);
  const auto reported = ask(asked, "read the channels of", interface_name);
  if (!reported) return std::unexpected(reported.error());
  return interface_channels{
      .rx = count_of(*reported, ETHTOOL_A_CHANNELS_RX_COUNT, ETHTOOL_A_CHANNELS_RX_MAX),
      .tx = count_of(*reported, ETHTOOL_A_CHANNELS_TX_COUNT, ETHTOOL_A_CHANNELS_TX_MAX),
      .other = count_of(*reported, ETHTOOL_A_CHANNELS_OTHER_COUNT, ETHTOOL_A_CHANNELS_OTHER_MAX),
      .combined =
          count_of(*reported, ETHTOOL_A_CHANNELS_COMBINED_COUNT, ETHTOOL_A_CHANNELS_COMBINED_MAX)};
}

result<void> ethtool::set_channels(std::string_view interface_name, const channel_change& change) {
  auto asked = request(ETHTOOL_MSG_CHANNELS_SET, ETHTOOL_A_CHANNELS_HEADER, interface_name);
  put(asked, ETHTOOL_A_CHANNELS_RX_COUNT, change.rx);
  put(asked, ETHTOOL_A_CHANNELS_TX_COUNT, change.tx);
  put(asked, ETHTOOL_A_CHANNELS_OTHER_COUNT, change.other);
  put(asked, ETHTOOL_A_CHANNELS_COMBINED_COUNT, change.combined);
  const auto reported = ask(asked, "set the channels of", interface_name);
  if (!reported) return std::unexpected(reported.error());
  return {};
}

result<std::vector<std::string>> ethtool::feature_names() {
  auto asked = request(ETHTOOL_MSG_STRSET_GET, ETHTOOL_A_STRSET_HEADER, {});
  asked.open_nest(ETHTOOL_A_STRSET_STRINGSETS)
      .open_nest(ETHTOOL_A_STRINGSETS_STRINGSET)
      .put_number(ETHTOOL_A_STRINGSET_ID, std::uint32_t{ETH_SS_FEATURES})
      .close_nest()
      .close_nest();
  const auto reported = ask(asked, "list the names of", "features");
  if (!reported) return std::unexpected(reported.error());
  std::vector<std::string> names;
  for (const auto& each : reported->nest(ETHTOOL_A_STRSET_STRINGSETS)
                              .nest(ETHTOOL_A_STRINGSETS_STRINGSET)
                              .nest(ETHTOOL_A_STRINGSET_STRINGS)) {
    const auto name = wire::netlink_attributes(each.value()).find(ETHTOOL_A_STRING_VALUE);
    // Numbers that the kernel does not use have no name.
    if (name && !name->text().empty()) names.emplace_back(name->text());
  }
  return names;
}

result<std::vector<interface_feature>> ethtool::features(std::string_view interface_name) {
  const auto names = feature_names();
  if (!names) return std::unexpected(names.error());
  auto asked = request(ETHTOOL_MSG_FEATURES_GET, ETHTOOL_A_FEATURES_HEADER, interface_name);
  const auto reported = ask(asked, "read the features of", interface_name);
  if (!reported) return std::unexpected(reported.error());
  const auto active = set_bits(reported->nest(ETHTOOL_A_FEATURES_ACTIVE));
  const auto wanted = set_bits(reported->nest(ETHTOOL_A_FEATURES_WANTED));
  const auto changeable = set_bits(reported->nest(ETHTOOL_A_FEATURES_HW));
  const auto never = set_bits(reported->nest(ETHTOOL_A_FEATURES_NOCHANGE));
  std::vector<interface_feature> all;
  for (const auto& name : *names) {
    all.push_back({.name = name,
                   .is_active = holds(active, name),
                   .is_wanted = holds(wanted, name),
                   .can_change = holds(changeable, name) && !holds(never, name)});
  }
  return all;
}

result<void> ethtool::set_features(std::string_view interface_name,
                                   std::span<const feature_change> changes) {
  auto asked = request(ETHTOOL_MSG_FEATURES_SET, ETHTOOL_A_FEATURES_HEADER, interface_name);
  asked.open_nest(ETHTOOL_A_FEATURES_WANTED).open_nest(ETHTOOL_A_BITSET_BITS);
  for (const auto& each : changes) {
    asked.open_nest(ETHTOOL_A_BITSET_BITS_BIT).put_text(ETHTOOL_A_BITSET_BIT_NAME, each.name);
    if (each.to) asked.put(ETHTOOL_A_BITSET_BIT_VALUE, {});
    asked.close_nest();
  }
  asked.close_nest().close_nest();
  const auto reported = ask(asked, "set the features of", interface_name);
  if (!reported) return std::unexpected(reported.error());
  return {};
}

}  // namespace strata::nl
