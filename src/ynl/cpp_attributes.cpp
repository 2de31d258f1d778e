#include "ynl/cpp_attributes.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace strata::ynl {

namespace {

using nl::attribute_kind;

/// Returns the type of a number of fixed width; empty for other kinds.
std::string_view number_type(attribute_kind kind) {
  switch (kind) {
    case attribute_kind::u8: return "std::uint8_t";
    case attribute_kind::u16: return "std::uint16_t";
    case attribute_kind::u32: return "std::uint32_t";
    case attribute_kind::u64: return "std::uint64_t";
    case attribute_kind::s8: return "std::int8_t";
    case attribute_kind::s16: return "std::int16_t";
    case attribute_kind::s32: return "std::int32_t";
    case attribute_kind::s64: return "std::int64_t";
    default: return {};
  }
}

bool is_array(const attribute& attribute) { return attribute.kind == attribute_kind::nested_array; }

}  // namespace

attribute_list cpp_attributes::all_of(const attribute_set& set) {
  attribute_list all;
  for (const auto& each : set.attributes) {
    if (each.kind != attribute_kind::invalid) all.push_back(&each);
  }
  return all;
}

attribute_list cpp_attributes::named(const operation& operation,
                                     const std::vector<std::string>& names) const {
  if (names.empty()) return {};
  if (!operation.set)
    throw cpp_flaw(fmt::format("'{}' has attributes, but no attribute set", operation.name));
  const auto& set = spec_.sets[*operation.set];
  attribute_list all;
  for (const auto& name : names) {
    const auto found = std::ranges::find(set.attributes, name, &attribute::name);
    if (found == set.attributes.end()) {
      throw cpp_flaw(fmt::format("'{}' is not an attribute of '{}'", name, set.name));
    }
    const bool is_new = std::ranges::find(all, &*found) == all.end();
    if (is_new && found->kind != attribute_kind::invalid) all.push_back(&*found);
  }
  return all;
}

const attribute_set* cpp_attributes::set_within(const attribute& attribute) const {
  const auto* at = &attribute;
  while (at->elements) at = &spec_.elements[*at->elements];
  return at->set ? &spec_.sets[*at->set] : nullptr;
}

std::string cpp_attributes::class_within(const attribute& attribute,
                                         std::string_view suffix) const {
  return fmt::format("{}{}", cpp_name(set_within(attribute)->name), suffix);
}

cpp_attributes::value_form cpp_attributes::scalar(const attribute& attribute) const {
  value_form made;
  if (const auto number = number_type(attribute.kind); !number.empty()) {
    const auto* const order = attribute.is_big_endian ? ", std::endian::big" : "";
    made = {fmt::format("typed::number<{}{}>", number, order), std::string(number)};
  } else if (attribute.kind == attribute_kind::uint) {
    made = {"typed::any_number<std::uint32_t, std::uint64_t>", "std::uint64_t"};
  } else if (attribute.kind == attribute_kind::sint) {
    made = {"typed::any_number<std::int32_t, std::int64_t>", "std::int64_t"};
  } else if (attribute.kind == attribute_kind::nul_string) {
    return {"typed::text", "std::string_view"};
  } else if (attribute.kind == attribute_kind::binary) {
    return {"typed::bytes", "strata::byte_span"};
  } else if (attribute.kind == attribute_kind::bitfield32) {
    return {"typed::bits", "typed::bitfield32"};
  } else {
    throw cpp_flaw(fmt::format("an array of '{}' cannot be read or written", attribute.name));
  }
  if (!attribute.names || attribute.is_flags) return made;
  const auto name = cpp_name(spec_.enums[*attribute.names].name, cpp_place::space);
  const auto named = fmt::format("{}::{}", space_, name);
  return {fmt::format("typed::named<{}, {}>", named, made.name), named};
}

std::string cpp_attributes::element_of(const attribute& array) const {
  const auto& element = spec_.elements[*array.elements];
  if (is_array(element)) {
    return fmt::format("typed::keyed<typed::array<{}>>", element_of(element));
  }
  if (element.kind != attribute_kind::nested) return scalar(element).name;
  const auto form = fmt::format("typed::nest<{}>", class_within(element, "_view"));
  return array.is_keyed ? fmt::format("typed::keyed<{}>", form) : form;
}

cpp_attributes::value_form cpp_attributes::form_of(const attribute& attribute) const {
  if (attribute.kind == attribute_kind::nested) {
    auto view = class_within(attribute, "_view");
    return {fmt::format("typed::nest<{}>", view), view};
  }
  if (!is_array(attribute)) return scalar(attribute);
  const auto element = element_of(attribute);
  return {fmt::format("typed::array<{}>", element), fmt::format("typed::range<{}>", element)};
}

void cpp_attributes::read_one(const std::string& owner, const attribute& each,
                              accessors& accessors) const {
  const auto name = cpp_name(each.name, cpp_place::view);
  const auto put = [&]<class... Values>(fmt::format_string<Values...> format, Values&&... values) {
    accessors.declared.push_back("[[nodiscard]] " +
                                 fmt::format(format, std::forward<Values>(values)...));
  };
  append(accessors.declared, cpp_comment(each.doc));
  if (each.kind == attribute_kind::flag) {
    put("bool {}() const {{ return has({}); }}", name, each.number);
    return;
  }
  const auto form = form_of(each);
  if (each.is_multi) {
    put("typed::range<{0}> {1}() const {{ return all<{0}>({2}); }}", form.name, name, each.number);
  } else if (is_array(each)) {
    put("{} {}() const {{ return elements<{}>({}); }}", form.value, name, element_of(each),
        each.number);
  } else if (each.kind == attribute_kind::nested) {
    put("std::optional<{}> {}() const;", form.value, name);
    append(accessors.defined,
           {fmt::format("inline std::optional<{}> {}::{}() const {{", form.value, owner, name),
            fmt::format("return first<{}>({});", form.name, each.number), "}"});
  } else {
    put("std::optional<{}> {}() const {{ return first<{}>({}); }}", form.value, name, form.name,
        each.number);
  }
}

cpp_attributes::accessors cpp_attributes::read(const std::string& owner,
                                               const attribute_list& all) const {
  accessors made;
  for (const auto* const each : all) read_one(owner, *each, made);
  return made;
}

code cpp_attributes::begin_setter(const std::string& owner, const attribute& each) const {
  const auto name = cpp_name(each.name, cpp_place::writer);
  const auto* const within = set_within(each);
  if (within != nullptr) {
    auto writer = class_within(each, "_writer");
    if (is_array(each)) writer = fmt::format("typed::array_writer<{}>", writer);
    return {fmt::format("template <std::invocable<{}&> Fill>", writer),
            fmt::format("{}& {}(Fill&& fill) {{", owner, name),
            fmt::format("typed::write_nest<{}>(to(), {}, std::forward<Fill>(fill));", writer,
                        each.number)};
  }
  if (is_array(each)) {
    const auto form = scalar(spec_.elements[*each.elements]);
    return {fmt::format("{}& {}(std::span<const {}> what) {{", owner, name, form.value),
            fmt::format("typed::write_elements<{}>(to(), {}, what);", form.name, each.number)};
  }
  if (each.kind == attribute_kind::flag) {
    return {fmt::format("{}& {}() {{", owner, name),
            fmt::format("to().put({}, {{}});", each.number)};
  }
  const auto form = scalar(each);
  return {fmt::format("{}& {}({} what) {{", owner, name, form.value),
          fmt::format("{}::write(to(), {}, what);", form.name, each.number)};
}

code cpp_attributes::written(const std::string& owner, const attribute_list& all) const {
  code lines;
  for (const auto* const each : all) {
    if (is_array(*each) && each->is_keyed) continue;
    auto says = each->doc;
    if (each->is_multi)
      says += says.empty() ? "may be there many times" : "; may be there many times";
    append(lines, cpp_comment(says));
    append(lines, begin_setter(owner, *each));
    append(lines, {"return *this;", "}"});
  }
  return lines;
}

}  // namespace strata::ynl
