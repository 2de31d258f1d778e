// The C ABI of what the kernel takes as attributes: a list of all tables' rows.
#include <memory>
#include <vector>

#include "abi/error.hpp"
#include "abi/strata_nl.hpp"

namespace {

namespace nl = strata::nl;
using strata::abi::fail;
using strata::abi::fail_missing;

strata_nl_policy show_policy(std::uint32_t table, const nl::attribute_policy& of) {
  strata_nl_policy made{};
  made.table = table;
  made.attribute = of.type;
  made.kind = nl::name_of(of.kind).data();
  const auto note = [&](std::uint32_t bit, const auto& value, auto& to) {
    if (!value) return;
    made.known |= bit;
    to = *value;
  };
  note(STRATA_NL_HAS_RANGE, of.least, made.least);
  note(STRATA_NL_HAS_RANGE, of.most, made.most);
  note(STRATA_NL_HAS_SIGNED_RANGE, of.least_signed, made.least_signed);
  note(STRATA_NL_HAS_SIGNED_RANGE, of.most_signed, made.most_signed);
  note(STRATA_NL_HAS_LEAST_SIZE, of.least_size, made.least_size);
  note(STRATA_NL_HAS_MOST_SIZE, of.most_size, made.most_size);
  note(STRATA_NL_HAS_MASK, of.mask, made.mask);
  note(STRATA_NL_HAS_TABLE, of.table, made.nested_table);
  return made;
}

}  // namespace

struct strata_nl_policies {
  nl::family_policy within;
  std::vector<strata_nl_policy> shown;
};

int strata_nl_policies_open(strata_nl* on, const char* family, strata_nl_policies** told) {
  if (told == nullptr) return fail_missing("a place for policies");
  if (family == nullptr) return fail_missing("the name of a family");
  on->has_request = false;
  const auto found = on->within.family(family);
  if (!found) return fail(found.error());
  auto asked = on->within.policy(*found);
  if (!asked) return fail(asked.error());
  auto made = std::make_unique<strata_nl_policies>();
  made->within = std::move(*asked);
  for (const auto& [table, rows] : made->within.tables) {
    for (const auto& each : rows) made->shown.push_back(show_policy(table, each));
  }
  *told = made.release();
  return 0;
}

void strata_nl_policies_close(strata_nl_policies* which) { delete which; }

size_t strata_nl_policies_count(const strata_nl_policies* which) { return which->shown.size(); }

const strata_nl_policy* strata_nl_policies_at(const strata_nl_policies* which, size_t index) {
  return index < which->shown.size() ? &which->shown[index] : nullptr;
}

int64_t strata_nl_policies_table_of(const strata_nl_policies* which, uint32_t command,
                                    uint8_t is_dump) {
  const auto found = which->within.operations.find(command);
  if (found == which->within.operations.end()) return -1;
  const auto& table = is_dump != 0 ? found->second.for_dump : found->second.for_do;
  return table ? static_cast<int64_t>(*table) : -1;
}
