#include "ynl/spec.hpp"

#include <algorithm>

namespace strata::ynl {

namespace {

template <class List, class Is>
auto* find_where(List& list, Is is) {
  const auto found = std::ranges::find_if(list, is);
  return found == list.end() ? nullptr : &*found;
}

char dashed(char letter) { return letter == '_' ? '-' : letter; }

}  // namespace

bool is_same_name(std::string_view one, std::string_view other) {
  return std::ranges::equal(one, other, {}, dashed, dashed);
}

const entry* enumeration::find(std::string_view text) const {
  return find_where(entries, [&](const auto& each) { return is_same_name(each.name, text); });
}

const entry* enumeration::find(std::uint64_t value) const {
  return find_where(entries, [&](const auto& each) { return each.value == value; });
}

const operation* spec::find(std::string_view operation) const {
  return find_where(operations,
                    [&](const auto& each) { return is_same_name(each.name, operation); });
}

const operation* spec::find_request(std::uint8_t command, bool is_dump) const {
  return find_where(operations, [&](const operation& each) {
    const auto& exchange = is_dump ? each.dump : each.act;
    return exchange && exchange->request == command;
  });
}

const operation* spec::find_event(std::uint8_t command) const {
  const auto is_it = [&](const std::optional<exchange>& exchange) {
    return exchange && exchange->reply == command;
  };
  const auto* const event =
      find_where(operations, [&](const auto& each) { return is_it(each.event); });
  if (event != nullptr) return event;
  return find_where(operations,
                    [&](const auto& each) { return is_it(each.act) || is_it(each.dump); });
}

scope scope::of(const ynl::spec* spec, const operation* operation) {
  if (spec == nullptr || operation == nullptr || !operation->set) return {};
  if (operation->has_fixed_header) return {};
  return {.spec = spec, .set = &spec->sets[*operation->set]};
}

scope scope::within(const attribute* attribute) const {
  if (attribute == nullptr) return {};
  if (attribute->set) return {.spec = spec, .set = &spec->sets[*attribute->set]};
  if (attribute->elements) return {.spec = spec, .element = &spec->elements[*attribute->elements]};
  return {};
}

const attribute* scope::find(std::uint16_t number) const {
  if (set == nullptr) return element;
  return find_where(set->attributes, [&](const auto& each) { return each.number == number; });
}

const attribute* scope::find(std::string_view name) const {
  if (set == nullptr) return nullptr;
  return find_where(set->attributes,
                    [&](const auto& each) { return is_same_name(each.name, name); });
}

const enumeration* scope::names_of(const attribute& attribute) const {
  return attribute.names ? &spec->enums[*attribute.names] : nullptr;
}

std::string scope::path_text(const wire::netlink_attributes::path& path) const {
  std::string text;
  auto at = *this;
  for (const auto number : path) {
    if (number == 0) break;
    const auto* const known = at.find(number);
    const bool is_named = known != nullptr && at.set != nullptr;
    text += (text.empty() ? "" : ".") + (is_named ? known->name : std::to_string(number));
    at = at.within(known);
  }
  return text;
}

}  // namespace strata::ynl
