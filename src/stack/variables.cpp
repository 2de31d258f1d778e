#include "stack/variables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace strata::stack {

namespace {

bool is_letter(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || letter == '_';
}

bool is_variable_name(std::string_view name) {
  return !name.empty() && is_letter(name.front()) && std::ranges::all_of(name, [](char letter) {
    return is_letter(letter) || (letter >= '0' && letter <= '9');
  });
}

// The text may be a secret, so no error shows it.
std::unexpected<error> refuse(errc code, std::string reason) {
  return failure(code, "replace the variables in a text", std::move(reason));
}

}  // namespace

result<std::string> expand_variables(
    std::string_view text,
    const std::function<std::optional<std::string>(const std::string& name)>& value_of) {
  std::string expanded;
  auto rest = text;
  for (;;) {
    const auto dollar = rest.find('$');
    expanded += rest.substr(0, dollar);
    if (dollar == std::string_view::npos) return expanded;
    const auto place = text.size() - rest.size() + dollar + 1;
    rest.remove_prefix(dollar + 1);
    if (rest.starts_with('$')) {
      expanded += '$';
      rest.remove_prefix(1);
      continue;
    }
    const auto end = rest.find('}');
    if (!rest.starts_with('{') || end == std::string_view::npos) {
      return refuse(errc::invalid_argument,
                    fmt::format("the '$' at character {} of a value begins no variable: write "
                                "${{NAME}}, or $$ for '$' itself",
                                place));
    }
    const auto inside = rest.substr(1, end - 1);
    rest.remove_prefix(end + 1);
    const auto mark = inside.find(":-");
    const std::string name(inside.substr(0, mark));
    if (!is_variable_name(name)) {
      return refuse(errc::invalid_argument,
                    fmt::format("the braces behind the '$' at character {} of a value have no "
                                "name of a variable: names have letters, digits and '_'",
                                place));
    }
    const auto value = value_of(name);
    if (value) {
      expanded += *value;
    } else if (mark != std::string_view::npos) {
      expanded += inside.substr(mark + 2);
    } else {
      return refuse(errc::not_found,
                    fmt::format("the variable '{0}' has no value: give it one with --set "
                                "{0}=VALUE, in the environment or in 'variables', or write "
                                "${{{0}:-VALUE}}",
                                name));
    }
  }
}

}  // namespace strata::stack
