#include "daemon/store/record_store.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace strata::daemon {

bool is_valid_name(std::string_view name) {
  const auto is_good = [](char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
           (letter >= '0' && letter <= '9') || letter == '_' || letter == '.' || letter == '-';
  };
  return !name.empty() && name.size() <= 64 && name.front() != '.' && name.front() != '-' &&
         std::ranges::all_of(name, is_good);
}

std::unexpected<error> stale_revision(const std::string& name, std::uint64_t expected,
                                      std::uint64_t present) {
  const auto state = present == 0 ? std::string("it has been removed")
                                  : fmt::format("it has revision {}", present);
  return failure(errc::conflict, fmt::format("change revision {} of '{}'", expected, name),
                 expected == 0 ? "a runtime of this name exists" : state,
                 "read it again: strata show " + name);
}

}  // namespace strata::daemon
