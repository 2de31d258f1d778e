#include "strata/wire/genl.hpp"

#include <array>

namespace strata::wire {

std::optional<genl_message> genl_message::parse(const netlink_message& message) {
  const auto payload = message.payload();
  if (payload.size() < header_size) return {};
  return genl_message{.command = static_cast<std::uint8_t>(payload[0]),
                      .version = static_cast<std::uint8_t>(payload[1]),
                      .attributes = message.attributes(header_size)};
}

netlink_writer& begin_genl(netlink_writer& writer, std::uint16_t family, std::uint16_t flags,
                           std::uint8_t command, std::uint8_t version) {
  const std::array header = {std::byte{command}, std::byte{version}, std::byte{0}, std::byte{0}};
  return writer.begin(family, flags).put_header(header);
}

}  // namespace strata::wire
