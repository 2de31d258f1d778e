// A family's YNL specification (the kernel's Documentation/netlink/genetlink-legacy.yaml) as plain
// values: how its commands and attributes are called, and what they hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "strata/nl/generic.hpp"

namespace strata::ynl {

/// A name of a number, or of a bit of it.
struct entry {
  std::string name;
  std::string doc;
  std::uint64_t value = 0;  ///< which bit, where they are flags
};

struct enumeration {
  std::string name;
  std::string doc;
  bool is_flags = false;
  std::vector<entry> entries;

  /// nullptr when there is none.
  [[nodiscard]] const entry* find(std::string_view text) const;
  [[nodiscard]] const entry* find(std::uint64_t value) const;
};

/// A number, or a text.
struct constant {
  std::string name;
  std::string doc;
  std::variant<std::uint64_t, std::int64_t, std::string> value;
};

struct attribute {
  std::uint16_t number = 0;
  std::string name;
  std::string doc;
  nl::attribute_kind kind = nl::attribute_kind::invalid;  ///< invalid: padding, or out of use
  bool is_multi = false;
  bool is_big_endian = false;
  bool is_keyed = false;                ///< the numbers of its elements say something
  bool is_flags = false;                ///< the number is bits of `names`
  std::optional<std::size_t> names;     ///< of its numbers, in `spec::enums`
  std::optional<std::size_t> set;       ///< of the nest, in `spec::sets`
  std::optional<std::size_t> elements;  ///< of the nested array, in `spec::elements`
};

struct attribute_set {
  std::string name;
  std::vector<attribute> attributes;
};

/// The numbers of both messages, and the attributes that they may have.
struct exchange {
  std::uint8_t request = 0;
  std::uint8_t reply = 0;
  bool has_reply = false;
  std::vector<std::string> takes;
  std::vector<std::string> tells;
};

struct operation {
  std::string name;
  std::string doc;
  std::string group;               ///< that hears it; may be empty
  std::optional<std::size_t> set;  ///< in `spec::sets`
  bool has_fixed_header = false;
  std::optional<exchange> act;  ///< `do`
  std::optional<exchange> dump;
  /// What is multicast; `reply` and `tells` alone.
  std::optional<exchange> event;
};

struct spec {
  std::string file;
  std::string family;
  std::string doc;
  std::uint8_t version = 1;
  std::vector<std::string> groups;
  std::vector<constant> constants;
  std::vector<enumeration> enums;
  std::vector<attribute_set> sets;
  std::vector<attribute> elements;  ///< of arrays; their number is any
  std::vector<operation> operations;

  /// nullptr when there is none.
  [[nodiscard]] const operation* find(std::string_view operation) const;
  [[nodiscard]] const operation* find_request(std::uint8_t command, bool is_dump) const;
  /// Of what was multicast: an event, or else a reply that others hear too.
  [[nodiscard]] const operation* find_event(std::uint8_t command) const;
};

/// What is known of the attributes that stand side by side in a message or a nest: nothing, a set,
/// or that all are elements of an array. Refers to the specification.
struct scope {
  const ynl::spec* spec = nullptr;
  const attribute_set* set = nullptr;
  const attribute* element = nullptr;

  /// Of the operation's messages; of nothing when either is nullptr, or they begin with a header.
  [[nodiscard]] static scope of(const ynl::spec* spec, const operation* operation);
  /// Within one of them; of nothing when that is nullptr.
  [[nodiscard]] scope within(const attribute* attribute) const;
  /// nullptr when it is not known.
  [[nodiscard]] const attribute* find(std::uint16_t number) const;
  [[nodiscard]] const attribute* find(std::string_view name) const;
  /// The names of an attribute's numbers; nullptr when they have none.
  [[nodiscard]] const enumeration* names_of(const attribute& attribute) const;
  /// "header.dev-name" of 1.2, with numbers where names are not known.
  [[nodiscard]] std::string path_text(const wire::netlink_attributes::path& path) const;
};

/// Whether they are one, underscores being dashes.
[[nodiscard]] bool is_same_name(std::string_view one, std::string_view other);

/// Of entries, attributes or operations.
template <class Named>
[[nodiscard]] std::vector<std::string> names_in(const std::vector<Named>& all) {
  std::vector<std::string> names;
  names.reserve(all.size());
  for (const auto& each : all) names.push_back(each.name);
  return names;
}

}  // namespace strata::ynl
