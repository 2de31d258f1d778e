#include "text/random_id.hpp"

#include <fmt/format.h>

namespace strata::text {

std::string random_id(std::mt19937_64& source) {
  std::string id;
  while (id.size() < 40) id += fmt::format("{:016x}", source());
  id.resize(40);
  return id;
}

}  // namespace strata::text
