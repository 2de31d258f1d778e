// Reads definitions and attribute sets.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "text/number.hpp"
#include "ynl/parts.hpp"

namespace strata::ynl {

namespace {

using nl::attribute_kind;

constexpr std::uint64_t largest_type = 0x3FFF;

constexpr std::array<std::pair<std::string_view, attribute_kind>, 23> kinds{{
    {"unused", attribute_kind::invalid},
    {"pad", attribute_kind::invalid},
    {"flag", attribute_kind::flag},
    {"u8", attribute_kind::u8},
    {"u16", attribute_kind::u16},
    {"u32", attribute_kind::u32},
    {"u64", attribute_kind::u64},
    {"s8", attribute_kind::s8},
    {"s16", attribute_kind::s16},
    {"s32", attribute_kind::s32},
    {"s64", attribute_kind::s64},
    {"uint", attribute_kind::uint},
    {"sint", attribute_kind::sint},
    {"binary", attribute_kind::binary},
    {"sub-message", attribute_kind::binary},
    {"string", attribute_kind::nul_string},
    {"bitfield32", attribute_kind::bitfield32},
    {"nest", attribute_kind::nested},
    {"indexed-array", attribute_kind::nested_array},
    {"array-nest", attribute_kind::nested_array},
    {"nest-type-value", attribute_kind::nested_array},
    {"bitset", attribute_kind::binary},
    {"struct", attribute_kind::binary},
}};

attribute_kind kind_of(const node& node, std::string_view type) {
  const auto* const found = std::ranges::find(kinds, type, &decltype(kinds)::value_type::first);
  if (found == kinds.end()) node.refuse(fmt::format("unknown type '{}'", type));
  return found->second;
}

/// Reads each set once, and a superset before its subsets.
class set_reader {
 public:
  set_reader(const node& root, budget& budget, spec& spec) : budget_(budget), to_(spec) {
    for (const auto& node : root.list("attribute-sets")) {
      budget_.spend(node);
      auto name = node.needed_text("name");
      if (!places_.emplace(name, to_.sets.size()).second) {
        node.refuse(fmt::format("duplicate attribute set '{}'", name));
      }
      nodes_.push_back(node);
      to_.sets.push_back({.name = std::move(name)});
    }
    states_.resize(nodes_.size(), state::unread);
    for (std::size_t place = 0; place < nodes_.size(); ++place) read(place);
  }

 private:
  enum class state : std::uint8_t { unread, begun, read };

  std::size_t place_of(const node& node, const std::string& name) const {
    const auto found = places_.find(name);
    if (found == places_.end()) node.refuse(fmt::format("unknown attribute set '{}'", name));
    return found->second;
  }

  /// Returns nullptr if it is not a subset.
  const attribute_set* superset_of(const node& node) {
    const auto name = node.text_of("subset-of");
    if (name.empty()) return nullptr;
    const auto place = place_of(node, name);
    if (states_[place] != state::read) {
      // The superset must not be a subset itself: nothing in the kernel's tree needs that.
      if (states_[place] == state::begun || !nodes_[place].text_of("subset-of").empty()) {
        node.refuse(fmt::format("'{}', of which it is a subset, must be defined before it", name));
      }
      read(place);
    }
    return &to_.sets[place];
  }

  void read(std::size_t place) {
    if (states_[place] != state::unread) return;
    states_[place] = state::begun;
    const auto& node = nodes_[place];
    const auto* const super = superset_of(node);
    std::vector<attribute> all;
    std::uint64_t next = 1;
    for (const auto& each : node.list("attributes")) {
      budget_.spend(each);
      all.push_back(attribute_of(each, super, next));
      next = all.back().number + 1U;
    }
    to_.sets[place].attributes = std::move(all);
    states_[place] = state::read;
  }

  attribute attribute_of(const node& node, const attribute_set* super, std::uint64_t next) {
    attribute made;
    const auto name = node.needed_text("name");
    if (super != nullptr) {
      const auto found = std::ranges::find(super->attributes, name, &attribute::name);
      if (found == super->attributes.end()) {
        node.refuse(fmt::format("'{}' is not in the set '{}', of which this is a subset", name,
                                super->name));
      }
      made = *found;
    } else {
      const auto number = node.number_of("value", largest_type).value_or(next);
      if (number > largest_type) node.refuse(fmt::format("its number is above {}", largest_type));
      made.number = static_cast<std::uint16_t>(number);
      made.name = name;
    }
    made.doc = node.text_of("doc", made.doc);
    const auto type = super != nullptr ? node.text_of("type") : node.needed_text("type");
    if (!type.empty()) made.kind = kind_of(node, type);
    made.is_multi = made.is_multi || node.is_true("multi-attr");
    made.is_big_endian = made.is_big_endian || node.text_of("byte-order") == "big-endian";
    name_numbers(node, made);
    nest(node, type, made);
    return made;
  }

  void name_numbers(const node& node, attribute& attribute) {
    const auto name = node.text_of("enum");
    if (name.empty()) return;
    const auto found = std::ranges::find(to_.enums, name, &enumeration::name);
    if (found == to_.enums.end()) node.refuse(fmt::format("unknown enum '{}'", name));
    attribute.names = static_cast<std::size_t>(found - to_.enums.begin());
    attribute.is_flags = found->is_flags || node.is_true("enum-as-flags");
  }

  void nest(const node& node, std::string_view type, attribute& attribute) {
    const auto name = node.text_of("nested-attributes");
    std::optional<std::size_t> set;
    if (!name.empty()) set = place_of(node, name);
    if (attribute.kind == attribute_kind::nested) {
      if (set) attribute.set = set;
      if (!attribute.set) node.refuse("a nest must have 'nested-attributes'");
    } else if (attribute.kind == attribute_kind::nested_array && (set || !attribute.elements)) {
      attribute.is_keyed = type == "nest-type-value";
      attribute.elements = elements_of(node, set, attribute);
    }
  }

  /// Returns the place of an array's elements: one kind, or arrays of them for each number that
  /// stands for a type.
  std::size_t elements_of(const node& node, std::optional<std::size_t> set,
                          const attribute& array) {
    attribute element{.name = array.name, .is_big_endian = array.is_big_endian};
    const auto sub_type = node.text_of("sub-type", "nest");
    element.kind = kind_of(node, sub_type);
    if (element.kind == attribute_kind::nested) {
      if (!set) node.refuse("an array of nests must have 'nested-attributes'");
      element.set = set;
    } else if (element.kind == attribute_kind::nested_array) {
      node.refuse(fmt::format("an array's 'sub-type' cannot be '{}'", sub_type));
    } else {
      element.names = array.names;
      element.is_flags = array.is_flags;
    }
    auto place = keep(node, std::move(element));
    if (!array.is_keyed) return place;
    const auto levels = node.list("type-value").size();
    for (std::size_t level = 1; level < levels; ++level) {
      place = keep(node, {.name = array.name,
                          .kind = attribute_kind::nested_array,
                          .is_keyed = true,
                          .elements = place});
    }
    return place;
  }

  std::size_t keep(const node& node, attribute element) {
    budget_.spend(node);
    to_.elements.push_back(std::move(element));
    return to_.elements.size() - 1;
  }

  budget& budget_;
  spec& to_;
  std::vector<node> nodes_;
  std::vector<state> states_;
  std::map<std::string, std::size_t, std::less<>> places_;
};

constant constant_of(const node& node) {
  constant made{.name = node.needed_text("name"), .doc = node.text_of("doc")};
  const auto written = node.needed_text("value");
  // A quoted value is a text, whatever it contains.
  const bool is_plain = node.yaml()["value"].Tag() == "?";
  if (const auto number = text::number_in<std::uint64_t>(written); number && is_plain) {
    made.value = *number;
  } else if (const auto below = text::number_in<std::int64_t>(written); below && is_plain) {
    made.value = *below;
  } else {
    made.value = written;
  }
  return made;
}

enumeration enum_of(const node& node, budget& budget) {
  enumeration made{.name = node.needed_text("name"),
                   .doc = node.text_of("doc"),
                   .is_flags = node.text_of("type") == "flags"};
  const std::uint64_t most = made.is_flags ? 63 : INT64_MAX;
  auto next = node.number_of("value-start", most).value_or(0);
  for (const auto& each : node.list("entries")) {
    budget.spend(each);
    entry entry{.value = next};
    if (each.is_map()) {
      entry = {.name = each.needed_text("name"),
               .doc = each.text_of("doc"),
               .value = each.number_of("value", most).value_or(next)};
    } else {
      entry.name = each.text("an entry");
    }
    if (entry.value > most) each.refuse(fmt::format("its value is above {}", most));
    next = entry.value + 1;
    made.entries.push_back(std::move(entry));
  }
  return made;
}

}  // namespace

void read_definitions(const node& root, budget& budget, spec& spec) {
  for (const auto& node : root.list("definitions")) {
    budget.spend(node);
    const auto type = node.needed_text("type");
    if (type == "const") spec.constants.push_back(constant_of(node));
    if (type == "enum" || type == "flags") spec.enums.push_back(enum_of(node, budget));
  }
}

void read_sets(const node& root, budget& budget, spec& spec) {
  const set_reader done(root, budget, spec);
}

}  // namespace strata::ynl
