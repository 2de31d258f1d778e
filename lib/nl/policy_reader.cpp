#include "nl/policy_reader.hpp"

#include <linux/genetlink.h>
#include <linux/netlink.h>

#include <algorithm>
#include <array>

namespace strata::nl {

namespace {

constexpr std::array<std::string_view, 18> kind_names = {
    "invalid",    "flag",   "u8",           "u16",        "u32",    "u64",
    "s8",         "s16",    "s32",          "s64",        "binary", "string",
    "nul-string", "nested", "nested-array", "bitfield32", "sint",   "uint"};

attribute_kind kind_of(std::uint32_t number) {
  return number < kind_names.size() ? static_cast<attribute_kind>(number) : attribute_kind::invalid;
}

attribute_policy policy_of(std::uint16_t type, wire::netlink_attributes attributes) {
  attribute_policy made{.type = type};
  for (const auto& each : attributes) {
    const auto u32 = each.number<std::uint32_t>();
    const auto u64 = each.number<std::uint64_t>();
    switch (each.type()) {
      case NL_POLICY_TYPE_ATTR_TYPE: made.kind = kind_of(u32.value_or(0)); break;
      case NL_POLICY_TYPE_ATTR_MIN_VALUE_S: made.least_signed = each.number<std::int64_t>(); break;
      case NL_POLICY_TYPE_ATTR_MAX_VALUE_S: made.most_signed = each.number<std::int64_t>(); break;
      case NL_POLICY_TYPE_ATTR_MIN_VALUE_U: made.least = u64; break;
      case NL_POLICY_TYPE_ATTR_MAX_VALUE_U: made.most = u64; break;
      case NL_POLICY_TYPE_ATTR_MIN_LENGTH: made.least_size = u32; break;
      case NL_POLICY_TYPE_ATTR_MAX_LENGTH: made.most_size = u32; break;
      case NL_POLICY_TYPE_ATTR_POLICY_IDX: made.table = u32; break;
      case NL_POLICY_TYPE_ATTR_BITFIELD32_MASK: made.mask = u32; break;
      case NL_POLICY_TYPE_ATTR_MASK: made.mask = u64; break;
      default: break;
    }
  }
  return made;
}

void read_tables(wire::netlink_attributes attributes, family_policy& policy) {
  for (const auto& table : attributes) {
    for (const auto& attribute : wire::netlink_attributes(table.value())) {
      policy.tables[table.type()].push_back(
          policy_of(attribute.type(), wire::netlink_attributes(attribute.value())));
    }
  }
}

void read_operations(wire::netlink_attributes attributes, family_policy& policy) {
  for (const auto& operation : attributes) {
    auto& of = policy.operations[operation.type()];
    for (const auto& each : wire::netlink_attributes(operation.value())) {
      if (each.type() == CTRL_ATTR_POLICY_DO) of.for_do = each.number<std::uint32_t>();
      if (each.type() == CTRL_ATTR_POLICY_DUMP) of.for_dump = each.number<std::uint32_t>();
    }
  }
}

}  // namespace

std::string_view name_of(attribute_kind kind) { return kind_names[static_cast<std::size_t>(kind)]; }

const std::vector<attribute_policy>* family_policy::table_of(std::uint32_t command,
                                                             bool is_dump) const {
  const auto of = operations.find(command);
  if (of == operations.end()) return nullptr;
  const auto number = is_dump ? of->second.for_dump : of->second.for_do;
  const auto table = number ? tables.find(*number) : tables.end();
  return table == tables.end() ? nullptr : &table->second;
}

void read_policy(wire::netlink_attributes attributes, family_policy& policy) {
  for (const auto& each : attributes) {
    if (each.type() == CTRL_ATTR_POLICY)
      read_tables(wire::netlink_attributes(each.value()), policy);
    if (each.type() == CTRL_ATTR_OP_POLICY) {
      read_operations(wire::netlink_attributes(each.value()), policy);
    }
  }
}

}  // namespace strata::nl
