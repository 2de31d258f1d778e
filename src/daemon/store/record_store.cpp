#include "daemon/store/record_store.hpp"

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

}  // namespace strata::daemon
