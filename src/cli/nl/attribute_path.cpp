#include "cli/nl/attribute_path.hpp"

#include <fmt/format.h>

#include "text/nearest.hpp"
#include "text/number.hpp"
#include "text/readable.hpp"

namespace strata::cli {

namespace {

constexpr std::size_t deepest_path = 8;
constexpr std::uint16_t largest_type = 0x3FFF;

struct step {
  std::uint16_t number = 0;
  const ynl::attribute* known = nullptr;
};

bool is_word(std::string_view text) {
  return text.find_first_not_of("0123456789") != std::string_view::npos;
}

std::string why_unknown(std::string_view name, const ynl::scope& scope) {
  if (scope.element != nullptr) {
    return fmt::format("'{}' is an array: write the index of an element, from 0",
                       scope.element->name);
  }
  if (scope.set == nullptr) {
    return fmt::format(
        "the number of '{}' is unknown: give a specification with --spec FILE, or write "
        "PATH[:TYPE][=VALUE] with numbers, as in 1=hello or 3.1:u32=5",
        text::printable(name));
  }
  const auto names = ynl::names_in(scope.set->attributes);
  return fmt::format("'{}' is not an attribute of '{}'{}; it has {}", text::printable(name),
                     text::printable(scope.set->name),
                     text::printable(text::did_you_mean(name, names)), text::names_listed(names));
}

outcome<step> find_step(std::string_view whole, std::string_view word, const ynl::scope& scope) {
  const auto number = text::number_in<std::uint16_t>(word);
  if (number && *number <= largest_type) return step{*number, scope.find(*number)};
  if (!is_word(word)) {
    return refuse_attribute(
        whole,
        fmt::format("write PATH[:TYPE][=VALUE] with a PATH such as 3 or 3.1, of numbers up to {}",
                    largest_type));
  }
  const auto* const known = scope.find(word);
  if (known != nullptr) return step{known->number, known};
  return refuse_attribute(whole, why_unknown(word, scope));
}

}  // namespace

std::unexpected<refusal> refuse_attribute(std::string_view whole, std::string_view why) {
  return refuse(exit_misused,
                fmt::format("--attr cannot be '{}': {}", text::printable(whole), why));
}

outcome<typed_attribute> parse_attribute(std::string_view whole, const ynl::scope& scope) {
  typed_attribute made{.whole = whole, .path = {}, .known = {}, .scope = scope, .type = {}};
  auto head = whole;
  if (const auto equals = whole.find('='); equals != std::string_view::npos) {
    made.value = whole.substr(equals + 1);
    head = whole.substr(0, equals);
  }
  if (const auto colon = head.find(':'); colon != std::string_view::npos) {
    made.type = head.substr(colon + 1);
    head = head.substr(0, colon);
  }
  for (;;) {
    const auto dot = head.find('.');
    const auto found = find_step(whole, head.substr(0, dot), made.scope);
    if (!found) return std::unexpected(found.error());
    made.path.push_back(found->number);
    made.known.push_back(found->known);
    if (dot == std::string_view::npos) return made;
    if (made.path.size() == deepest_path) {
      return refuse_attribute(whole, fmt::format("it is more than {} deep", deepest_path));
    }
    made.scope = made.scope.within(found->known);
    head.remove_prefix(dot + 1);
  }
}

}  // namespace strata::cli
