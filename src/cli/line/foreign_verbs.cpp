#include "cli/line/foreign_verbs.hpp"

#include <algorithm>
#include <span>

namespace strata::cli {

namespace {

struct foreign_verb {
  std::string_view verb;
  std::string_view here;
};

// docs/from-socketley.md shows all verbs.
constexpr foreign_verb unknown_verbs[] = {
    {"dashboard", "`strata top`, at a terminal"},
    {"import", "`strata edit NAME` with flags, or `strata up -f FILE`"},
};

constexpr foreign_verb wordy_verbs[] = {
    {"attach", "`strata attach NAME PORT`, without a type"},
};

std::optional<std::string_view> find_in(std::span<const foreign_verb> rows, std::string_view verb) {
  const auto found = std::ranges::find(rows, verb, &foreign_verb::verb);
  if (found == rows.end()) return std::nullopt;
  return found->here;
}

}  // namespace

std::optional<std::string_view> counterpart_of_verb(std::string_view verb) {
  return find_in(unknown_verbs, verb);
}

std::optional<std::string_view> counterpart_of_words(std::string_view verb) {
  return find_in(wordy_verbs, verb);
}

}  // namespace strata::cli
