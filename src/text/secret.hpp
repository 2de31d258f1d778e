// What is to be kept from those who guess.
#pragma once

#include <string_view>

namespace strata::text {

/// Takes as long for a near miss as for a far one. An empty secret is equal to an empty guess.
[[nodiscard]] bool equal_in_constant_time(std::string_view guess, std::string_view secret);

}  // namespace strata::text
