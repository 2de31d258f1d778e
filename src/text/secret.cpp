#include "text/secret.hpp"

#include <cstddef>

namespace strata::text {

bool equal_in_constant_time(std::string_view guess, std::string_view secret) {
  unsigned difference = guess.size() == secret.size() ? 0 : 1;
  for (std::size_t i = 0; i < guess.size(); ++i) {
    const char expected = secret.empty() ? '\0' : secret[i % secret.size()];
    difference |= static_cast<unsigned char>(guess[i]) ^ static_cast<unsigned char>(expected);
  }
  return difference == 0;
}

}  // namespace strata::text
