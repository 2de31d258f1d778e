// A family's YNL specification (the kernel's Documentation/netlink/genetlink-legacy.yaml) as plain
// values: the names and contents of its commands and attributes.
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

/// The name of a number, or of one of its bits.
struct entry {
  std::string name;
  std::string doc;
  std::uint64_t value = 0;  ///< the number of the bit, for flags
};

struct enumeration {
  std::string name;
  std::string doc;
  bool is_flags = false;
  std::vector<entry> entries;

  /// Returns nullptr if there is none.
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
  nl::attribute_kind kind = nl::attribute_kind::invalid;  ///< invalid: padding, or unused
  bool is_multi = false;
  bool is_big_endian = false;
  bool is_keyed = false;                ///< the numbers of its elements have a meaning
  bool is_flags = false;                ///< the number consists of bits of `names`
  std::optional<std::size_t> names;     ///< of its values, in `spec::enums`
  std::optional<std::size_t> set;       ///< of the nest, in `spec::sets`
  std::optional<std::size_t> elements;  ///< of the nested array, in `spec::elements`
};

struct attribute_set {
  std::string name;
  std::vector<attribute> attributes;
};

/// The command numbers of request and reply, and their possible attributes.
struct exchange {
  std::uint8_t request = 0;
  std::uint8_t reply = 0;
  bool has_reply = false;
  std::vector<std::string> request_attributes;
  std::vector<std::string> reply_attributes;
};

struct operation {
  std::string name;
  std::string doc;
  std::string group;               ///< that receives it; may be empty
  std::optional<std::size_t> set;  ///< in `spec::sets`
  bool has_fixed_header = false;
  std::optional<exchange> act;  ///< `do`
  std::optional<exchange> dump;
  /// A multicast message; only `reply` and `reply_attributes` are set.
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
  std::vector<attribute> elements;  ///< of arrays; with arbitrary numbers
  std::vector<operation> operations;

  /// Returns nullptr if there is none.
  [[nodiscard]] const operation* find(std::string_view operation) const;
  [[nodiscard]] const operation* find_request(std::uint8_t command, bool is_dump) const;
  /// Returns the operation of a multicast message: an event, or otherwise a reply that is also
  /// multicast.
  [[nodiscard]] const operation* find_event(std::uint8_t command) const;
};

/// The known description of the attributes at one level of a message or a nest: none, a set, or the
/// elements of an array. Refers to the specification.
struct scope {
  const ynl::spec* spec = nullptr;
  const attribute_set* set = nullptr;
  const attribute* element = nullptr;

  /// The scope of the operation's messages; empty if either is nullptr, or the messages begin with
  /// a header.
  [[nodiscard]] static scope of(const ynl::spec* spec, const operation* operation);
  /// The scope within an attribute; empty if that is nullptr.
  [[nodiscard]] scope within(const attribute* attribute) const;
  /// Returns nullptr if the attribute is unknown.
  [[nodiscard]] const attribute* find(std::uint16_t number) const;
  [[nodiscard]] const attribute* find(std::string_view name) const;
  /// Returns the names of an attribute's values; nullptr if they have none.
  [[nodiscard]] const enumeration* names_of(const attribute& attribute) const;
  /// Returns "header.dev-name" for 1.2, with numbers where names are unknown.
  [[nodiscard]] std::string path_text(const wire::netlink_attributes::path& path) const;
};

/// Reports whether the names are equal, with underscores as dashes.
[[nodiscard]] bool is_same_name(std::string_view one, std::string_view other);

/// Returns the names of entries, attributes or operations.
template <class Named>
[[nodiscard]] std::vector<std::string> names_in(const std::vector<Named>& all) {
  std::vector<std::string> names;
  names.reserve(all.size());
  for (const auto& each : all) names.push_back(each.name);
  return names;
}

}  // namespace strata::ynl
