#include "ynl/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>

#include "text/nearest.hpp"
#include "text/number.hpp"
#include "text/readable.hpp"
#include "ynl/value.hpp"

namespace strata::ynl {

using nl::attribute_kind;
using nlohmann::json;

namespace {

// The depth limit of `netlink_writer`; a deeper message is shown as bytes.
constexpr std::size_t deepest = 8;

std::string key_of(const attribute& named) {
  auto key = named.name;
  std::ranges::replace(key, '-', '_');
  return key;
}

// Converts numbers beyond a script's exact range to text.
json exact(json value) {
  constexpr std::int64_t most = 1LL << 53U;
  if (!value.is_number_integer()) return value;
  const bool is_small =
      value.is_number_unsigned()
          ? value.get<std::uint64_t>() <= std::uint64_t{most}
          : value.get<std::int64_t>() >= -most && value.get<std::int64_t>() <= most;
  return is_small ? value : json(value.dump());
}

json bytes_of(const wire::netlink_attribute& attribute) {
  return std::string(as_text(attribute.value()));
}

json table_within(const wire::netlink_attributes& attributes, const scope& scope,
                  std::size_t depth);

// A specification may nest a set within itself, but `depth` limits that.
// NOLINTNEXTLINE(misc-no-recursion)
json value_of(const wire::netlink_attribute& source, const attribute& named, const scope& scope,
              std::size_t depth) {
  if ((named.set || named.elements) && depth < deepest) {
    return table_within(wire::netlink_attributes(source.value()), scope.within(&named), depth + 1);
  }
  auto value = value_to_json(source, named, scope.names_of(named));
  return value.is_null() ? bytes_of(source) : exact(std::move(value));
}

// NOLINTNEXTLINE(misc-no-recursion)
json table_within(const wire::netlink_attributes& attributes, const scope& scope,
                  std::size_t depth) {
  // The elements of an array form a list, unless their numbers have a meaning.
  const bool is_list = scope.element != nullptr && !scope.element->is_keyed;
  auto table = is_list ? json::array() : json::object();
  for (const auto& each : attributes) {
    const auto* const named = scope.find(each.type());
    if (named != nullptr && named->kind == attribute_kind::invalid) continue;
    auto value = named != nullptr ? value_of(each, *named, scope, depth) : bytes_of(each);
    if (is_list) {
      table.push_back(std::move(value));
      continue;
    }
    const auto key =
        named != nullptr && scope.set != nullptr ? key_of(*named) : std::to_string(each.type());
    if (named != nullptr && named->is_multi) {
      table[key].push_back(std::move(value));
    } else {
      table[key] = std::move(value);
    }
  }
  return table;
}

// --- writing

std::unexpected<error> refused(std::string_view name, std::string why) {
  return failure(errc::invalid_argument, "write an attribute",
                 fmt::format("{}: {}", text::printable(name), why),
                 "use a value that the family's specification allows");
}

// Joins a list of names to `a|b`.
std::string typed_text(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float() && value == std::int64_t(value.get<double>())) {
    return std::to_string(value.get<std::int64_t>());
  }
  if (!value.is_array()) return value.dump();
  std::string text;
  for (const auto& each : value) text += (text.empty() ? "" : "|") + typed_text(each);
  return text.empty() ? "0" : text;
}

// Writes the bits, and the mask of the valid ones.
result<void> put_bits(wire::netlink_writer& writer, std::uint16_t number, std::string_view name,
                      const json& value) {
  std::array<std::uint32_t, 2> halves{};
  const auto read = [&value](const char* key, std::uint32_t& into) {
    if (!value.is_object() || !value.contains(key)) return false;
    const auto given = text::number_in<std::uint32_t>(typed_text(value[key]));
    into = given.value_or(0);
    return given.has_value();
  };
  if (!read("value", halves[0]) || !read("selector", halves[1])) {
    return refused(name, "it is a bit field: use {value = BITS, selector = MASK}");
  }
  writer.put(number, std::as_bytes(std::span(halves)));
  return {};
}

result<void> put_scalar(wire::netlink_writer& writer, std::uint16_t number, const attribute* named,
                        const scope& scope, std::string_view name, const json& value) {
  const auto kind = named != nullptr ? named->kind : attribute_kind::binary;
  if (kind == attribute_kind::bitfield32) return put_bits(writer, number, name, value);
  if (kind == attribute_kind::flag) {
    if (!value.is_boolean()) return refused(name, "it is a flag: use true or false");
    if (value == true) writer.put(number, {});
    return {};
  }
  // Bytes are given as bytes here; users type them as digits.
  if (kind == attribute_kind::binary && value.is_string()) {
    writer.put(number, as_bytes(value.get_ref<const std::string&>()));
    return {};
  }
  const auto typed = typed_text(value);
  const value_place where{.number = number,
                          .kind = kind,
                          .named = named,
                          .names = named != nullptr ? scope.names_of(*named) : nullptr};
  if (auto done = put_value(writer, where, typed); !done) return refused(name, done.error().reason);
  return {};
}

result<void> put_within(wire::netlink_writer& writer, const json& table, const scope& scope,
                        std::size_t depth);

// NOLINTNEXTLINE(misc-no-recursion)
result<void> put_one(wire::netlink_writer& writer, std::uint16_t number, const attribute* named,
                     const scope& scope, std::string_view name, const json& value,
                     std::size_t depth) {
  const bool is_nest = named != nullptr && (named->set || named->elements);
  const bool is_bits = named != nullptr && named->kind == attribute_kind::bitfield32;
  if (is_bits || (!is_nest && !value.is_object())) {
    return put_scalar(writer, number, named, scope, name, value);
  }
  if (!value.is_structured()) return refused(name, "it is a nest: use a table");
  if (depth + 1 >= deepest) {
    return refused(name, fmt::format("it is nested deeper than {}", deepest));
  }
  writer.open_nest(number);
  auto done = put_within(writer, value, scope.within(named), depth + 1);
  if (done) writer.close_nest();
  return done;
}

// NOLINTNEXTLINE(misc-no-recursion)
result<void> put_within(wire::netlink_writer& writer, const json& table, const scope& scope,
                        std::size_t depth) {
  if (table.is_array()) {
    std::uint16_t number = 0;
    for (const auto& each : table) {
      auto done =
          put_one(writer, number, scope.find(number), scope, std::to_string(number), each, depth);
      if (!done) return done;
      ++number;
    }
    return {};
  }
  for (const auto& [name, value] : table.items()) {
    const auto given = text::number_in<std::uint16_t>(name);
    const auto* const named = given ? scope.find(*given) : scope.find(name);
    if (!given && named == nullptr) {
      const auto names =
          scope.set != nullptr ? names_in(scope.set->attributes) : std::vector<std::string>{};
      return refused(name,
                     fmt::format("no attribute has this name{}{}",
                                 text::printable(text::did_you_mean(name, names)),
                                 names.empty() ? ", as there is no specification"
                                               : "; use one of " + text::names_listed(names)));
    }
    const auto number = given ? *given : named->number;
    const bool is_repeated = named != nullptr && named->is_multi && value.is_array();
    for (const auto& each : is_repeated ? value : json::array({value})) {
      if (auto done = put_one(writer, number, named, scope, name, each, depth); !done) return done;
    }
  }
  return {};
}

}  // namespace

json to_table(const wire::netlink_attributes& attributes, const scope& scope) {
  return table_within(attributes, scope, 0);
}

result<void> put_table(wire::netlink_writer& writer, const json& table, const scope& scope) {
  if (table.is_structured()) return put_within(writer, table, scope, 0);
  return refused("the attributes", "they are not a table");
}

}  // namespace strata::ynl
