#include "cli/nl/flags.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "cli/nl/attribute_path.hpp"
#include "ynl/value.hpp"

namespace strata::cli {

namespace {

using nl::attribute_kind;

/// The kind of a TYPE.
std::optional<attribute_kind> kind_named(std::string_view name) {
  for (auto number = 1U; number <= static_cast<unsigned>(attribute_kind::uint); ++number) {
    const auto kind = static_cast<attribute_kind>(number);
    if (nl::name_of(kind) == name) return kind;
  }
  return {};
}

/// The kind by the kernel's policy, which does not cover attributes that the kernel ignores.
std::optional<attribute_kind> kind_by_policy(const typed_attribute& attribute,
                                             const known_attributes& known) {
  const auto* table = known.table;
  for (std::size_t depth = 0; known.policy != nullptr && table != nullptr; ++depth) {
    const auto found =
        std::ranges::find(*table, attribute.path[depth], &nl::attribute_policy::type);
    if (found == table->end()) return {};
    if (depth + 1 == attribute.path.size()) return found->kind;
    const auto& tables = known.policy->tables;
    const auto next = found->table ? tables.find(*found->table) : tables.end();
    table = next == tables.end() ? nullptr : &next->second;
  }
  return {};
}

outcome<> put_as(wire::netlink_writer& writer, const typed_attribute& attribute,
                 attribute_kind kind, const ynl::attribute* named) {
  const auto* const names = named != nullptr ? attribute.scope.names_of(*named) : nullptr;
  const ynl::value_place where{
      .number = attribute.number(), .kind = kind, .named = named, .names = names};
  const auto done = ynl::put_value(writer, where, attribute.value);
  if (done) return {};
  const bool is_nest = kind == attribute_kind::nested || kind == attribute_kind::nested_array;
  return refuse_attribute(attribute.whole,
                          done.error().reason + (is_nest ? ": write PATH.NAME=VALUE" : ""));
}

outcome<> put(wire::netlink_writer& writer, const typed_attribute& attribute,
              const known_attributes& known) {
  const auto* const named = attribute.known.back();
  if (!attribute.type.empty()) {
    const auto kind = kind_named(attribute.type);
    if (kind) return put_as(writer, attribute, *kind, nullptr);
    return refuse_attribute(attribute.whole,
                            "its type must be one of u8, u16, u32, u64, s8, s16, s32, s64, uint, "
                            "sint, flag, nul-string, binary");
  }
  if (named != nullptr) return put_as(writer, attribute, named->kind, named);
  const auto guess = attribute.value ? attribute_kind::nul_string : attribute_kind::flag;
  return put_as(writer, attribute, kind_by_policy(attribute, known).value_or(guess), nullptr);
}

/// The number of open nests that stay open when a path is repeated.
std::size_t kept_open(const typed_attribute& attribute) {
  const auto parents = attribute.path.size() - 1;
  if (parents == 0 || (attribute.known.back() != nullptr && attribute.known.back()->is_multi))
    return parents;
  for (auto depth = parents; depth > 0; --depth) {
    const auto* const known = attribute.known[depth - 1];
    if (known != nullptr && known->is_multi) return depth - 1;
  }
  return parents - 1;
}

}  // namespace

outcome<> write_attributes(wire::netlink_writer& writer, const std::vector<std::string>& typed,
                           const known_attributes& known) {
  std::vector<std::uint16_t> open;
  std::set<std::vector<std::uint16_t>> written;
  for (const auto& each : typed) {
    const auto what = parse_attribute(each, known.scope);
    if (!what) return std::unexpected(what.error());
    const std::vector<std::uint16_t> parents(what->path.begin(), what->path.end() - 1);
    // Nests shared by both paths stay open.
    auto same = static_cast<std::size_t>(std::ranges::mismatch(open, parents).in1 - open.begin());
    const bool is_again = !written.insert(what->path).second;
    if (is_again && kept_open(*what) < parents.size()) {
      written = {what->path};
      same = std::min(same, kept_open(*what));
    }
    for (; open.size() > same; open.pop_back()) writer.close_nest();
    for (; open.size() < parents.size(); open.push_back(parents[open.size()])) {
      writer.open_nest(parents[open.size()]);
    }
    if (auto done = put(writer, *what, known); !done) return done;
  }
  for (; !open.empty(); open.pop_back()) writer.close_nest();
  return {};
}

}  // namespace strata::cli
