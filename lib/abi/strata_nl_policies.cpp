// The C ABI of policies: a list of the rows of all tables.
#include <memory>
#include <vector>

#include "abi/error.hpp"
#include "abi/strata_nl.hpp"

namespace {

namespace nl = strata::nl;
using strata::abi::fail;
using strata::abi::fail_missing;

strata_nl_policy show_policy(std::uint32_t table, const nl::attribute_policy& policy) {
  strata_nl_policy made{};
  made.table = table;
  made.attribute = policy.type;
  made.kind = nl::name_of(policy.kind).data();
  const auto note = [&](std::uint32_t bit, const auto& value, auto& to) {
    if (!value) return;
    made.known |= bit;
    to = *value;
  };
  note(STRATA_NL_HAS_RANGE, policy.least, made.least);
  note(STRATA_NL_HAS_RANGE, policy.most, made.most);
  note(STRATA_NL_HAS_SIGNED_RANGE, policy.least_signed, made.least_signed);
  note(STRATA_NL_HAS_SIGNED_RANGE, policy.most_signed, made.most_signed);
  note(STRATA_NL_HAS_LEAST_SIZE, policy.least_size, made.least_size);
  note(STRATA_NL_HAS_MOST_SIZE, policy.most_size, made.most_size);
  note(STRATA_NL_HAS_MASK, policy.mask, made.mask);
  note(STRATA_NL_HAS_TABLE, policy.table, made.nested_table);
  return made;
}

}  // namespace

struct strata_nl_policies {
  nl::family_policy within;
  std::vector<strata_nl_policy> shown;
};

int strata_nl_policies_open(strata_nl* connection, const char* family,
                            strata_nl_policies** policies) {
  if (policies == nullptr) return fail_missing("the output pointer for policies");
  if (family == nullptr) return fail_missing("the name of a family");
  connection->has_request = false;
  const auto found = connection->within.family(family);
  if (!found) return fail(found.error());
  auto asked = connection->within.policy(*found);
  if (!asked) return fail(asked.error());
  auto made = std::make_unique<strata_nl_policies>();
  made->within = std::move(*asked);
  for (const auto& [table, rows] : made->within.tables) {
    for (const auto& each : rows) made->shown.push_back(show_policy(table, each));
  }
  *policies = made.release();
  return 0;
}

void strata_nl_policies_close(strata_nl_policies* policies) { delete policies; }

size_t strata_nl_policies_count(const strata_nl_policies* policies) {
  return policies->shown.size();
}

const strata_nl_policy* strata_nl_policies_at(const strata_nl_policies* policies, size_t index) {
  return index < policies->shown.size() ? &policies->shown[index] : nullptr;
}

int64_t strata_nl_policies_table_of(const strata_nl_policies* policies, uint32_t command,
                                    uint8_t is_dump) {
  const auto found = policies->within.operations.find(command);
  if (found == policies->within.operations.end()) return -1;
  const auto& table = is_dump != 0 ? found->second.for_dump : found->second.for_do;
  return table ? static_cast<int64_t>(*table) : -1;
}
