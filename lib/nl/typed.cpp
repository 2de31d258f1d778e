#include "strata/nl/typed.hpp"

namespace strata::nl::typed {

request::request(connection& connection, std::uint16_t family, std::uint16_t flags,
                 std::uint8_t command, std::uint8_t version)
    : over_(&connection), to_(connection.request()) {
  wire::begin_genl(to_, family, wire::netlink_flag::request | flags, command, version);
}

result<void> request::ask_for_ack(std::string_view operation) {
  const auto reply = over_->ask(to_, operation);
  if (!reply) return std::unexpected(reply.error());
  return {};
}

error request::other_reply(std::string_view operation) {
  return {.code = errc::malformed,
          .operation = std::string(operation),
          .reason = "a message is truncated, or its command is not the specification's",
          .remedy = {},
          .offset = {}};
}

result<void> client::join(std::string_view group) {
  const auto family = on_.family(family_);
  if (!family) return std::unexpected(family.error());
  const auto* const found = family->find_group(group);
  if (found != nullptr) return over().join(found->id);
  return failure(errc::not_found, "join the group '" + std::string(group) + "'",
                 "the family '" + family_ + "' has no group of this name",
                 "`strata nl show " + family_ + "` lists the groups");
}

}  // namespace strata::nl::typed
