#include "strata/nl/generic.hpp"

#include <linux/genetlink.h>
#include <linux/netlink.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "nl/policy_reader.hpp"

namespace strata::nl {

namespace {

constexpr std::uint8_t controller_version = 2;

generic_operation operation_of(wire::netlink_attributes attributes) {
  generic_operation made;
  std::uint32_t flags = 0;
  for (const auto& each : attributes) {
    if (each.type() == CTRL_ATTR_OP_ID) made.command = each.number<std::uint32_t>().value_or(0);
    if (each.type() == CTRL_ATTR_OP_FLAGS) flags = each.number<std::uint32_t>().value_or(0);
  }
  made.needs_admin = (flags & GENL_ADMIN_PERM) != 0;
  made.needs_uns_admin = (flags & GENL_UNS_ADMIN_PERM) != 0;
  made.can_do = (flags & GENL_CMD_CAP_DO) != 0;
  made.can_dump = (flags & GENL_CMD_CAP_DUMP) != 0;
  made.has_policy = (flags & GENL_CMD_CAP_HASPOL) != 0;
  return made;
}

generic_group group_of(wire::netlink_attributes attributes) {
  generic_group made;
  for (const auto& each : attributes) {
    if (each.type() == CTRL_ATTR_MCAST_GRP_NAME) made.name = each.text();
    if (each.type() == CTRL_ATTR_MCAST_GRP_ID) {
      made.id = each.number<std::uint32_t>().value_or(0);
    }
  }
  return made;
}

generic_family family_of(const wire::genl_message& message) {
  generic_family made;
  const auto number = [](const wire::netlink_attribute& attribute) {
    return attribute.number<std::uint32_t>().value_or(0);
  };
  for (const auto& each : message.attributes) {
    switch (each.type()) {
      case CTRL_ATTR_FAMILY_NAME: made.name = each.text(); break;
      case CTRL_ATTR_FAMILY_ID: made.id = each.number<std::uint16_t>().value_or(0); break;
      case CTRL_ATTR_VERSION: made.version = number(each); break;
      case CTRL_ATTR_HDRSIZE: made.header_size = number(each); break;
      case CTRL_ATTR_MAXATTR: made.max_attribute = number(each); break;
      case CTRL_ATTR_OPS:
        for (const auto& one : wire::netlink_attributes(each.value())) {
          made.operations.push_back(operation_of(wire::netlink_attributes(one.value())));
        }
        break;
      case CTRL_ATTR_MCAST_GROUPS:
        for (const auto& one : wire::netlink_attributes(each.value())) {
          made.groups.push_back(group_of(wire::netlink_attributes(one.value())));
        }
        break;
      default: break;
    }
  }
  return made;
}

// The kernel identifies an operation by its do command; an operation that can only be dumped is 0
// there (Linux 6.18).
void name_dump_only(const generic_family& family, family_policy& policy) {
  const auto unnamed = policy.operations.find(0);
  if (unnamed == policy.operations.end()) return;
  for (const auto& each : family.operations) {
    if (each.can_dump && !each.can_do && each.has_policy &&
        !policy.operations.contains(each.command)) {
      policy.operations[each.command] = unnamed->second;
    }
  }
  policy.operations.erase(0);
}

}  // namespace

const generic_group* generic_family::find_group(std::string_view text) const {
  const auto found = std::ranges::find(groups, text, &generic_group::name);
  return found == groups.end() ? nullptr : &*found;
}

result<generic> generic::open(connection_options options) {
  options.family_header = wire::genl_message::header_size;
  auto made = connection::open(NETLINK_GENERIC, options);
  if (!made) return std::unexpected(made.error());
  return generic(std::move(*made));
}

result<wire::genl_message> generic::ask_for(std::string_view name) {
  auto request = over_.request();
  wire::begin_genl(request, GENL_ID_CTRL, wire::netlink_flag::request, CTRL_CMD_GETFAMILY,
                   controller_version)
      .put_text(CTRL_ATTR_FAMILY_NAME, name);
  auto reply = over_.ask(request, "find a generic netlink family");
  if (!reply) {
    auto failed = std::move(reply.error());
    failed.operation = "find the generic netlink family '" + std::string(name) + "'";
    if (failed.code == errc::not_found) {
      failed.reason = "this kernel has no such family in this network namespace";
      failed.remedy = "list families with: strata nl families; a module may have to be loaded";
    }
    return std::unexpected(std::move(failed));
  }
  const auto message = wire::genl_message::parse(*reply);
  if (message) return *message;
  return failure(errc::malformed, "find the generic netlink family '" + std::string(name) + "'",
                 "the controller's reply is truncated");
}

result<std::uint16_t> generic::resolve(std::string_view name) {
  const auto message = ask_for(name);
  if (!message) return std::unexpected(message.error());
  const auto id = message->attributes.find(CTRL_ATTR_FAMILY_ID);
  const auto number = id ? id->number<std::uint16_t>() : std::nullopt;
  if (number) return *number;
  return failure(errc::malformed, "find the generic netlink family '" + std::string(name) + "'",
                 "the controller's reply has no id");
}

result<generic_family> generic::family(std::string_view name) {
  const auto message = ask_for(name);
  if (!message) return std::unexpected(message.error());
  return family_of(*message);
}

result<std::vector<generic_family>> generic::families() {
  std::vector<generic_family> all;
  auto request = over_.request();
  wire::begin_genl(request, GENL_ID_CTRL, wire::netlink_flag::request | wire::netlink_flag::dump,
                   CTRL_CMD_GETFAMILY, controller_version);
  auto done = over_.dump(request, "list the generic netlink families",
                         [&](const wire::netlink_message& each) {
                           const auto message = wire::genl_message::parse(each);
                           if (message) all.push_back(family_of(*message));
                         });
  if (!done) return std::unexpected(done.error());
  std::ranges::sort(all, {}, &generic_family::id);
  return all;
}

result<family_policy> generic::policy(const generic_family& family) {
  family_policy reported;
  auto request = over_.request();
  wire::begin_genl(request, GENL_ID_CTRL, wire::netlink_flag::request | wire::netlink_flag::dump,
                   CTRL_CMD_GETPOLICY, controller_version)
      .put_number(CTRL_ATTR_FAMILY_ID, family.id);
  auto done = over_.dump(request, "read the policy of the family '" + family.name + "'",
                         [&](const wire::netlink_message& each) {
                           const auto message = wire::genl_message::parse(each);
                           if (message) read_policy(message->attributes, reported);
                         });
  if (done) {
    name_dump_only(family, reported);
    return reported;
  }
  // The controller reports in this way that no operation has a policy.
  if (done.error().sys_errno == ENODATA) {
    done.error().code = errc::not_found;
    done.error().reason = "the family has no policy";
  }
  return std::unexpected(done.error());
}

}  // namespace strata::nl
