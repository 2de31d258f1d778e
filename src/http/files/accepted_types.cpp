#include "http/files/accepted_types.hpp"

#include <algorithm>

#include "http/files/content_coding.hpp"

namespace strata::http {

int accepted_weight(const proto::http_fields& headers, std::string_view type) {
  int best = 0;
  for (const auto& [name, value] : headers) {
    if (name != "accept") continue;
    for (std::string_view rest = value; !rest.empty();) {
      const auto end = std::min(rest.find(','), rest.size());
      auto element = rest.substr(0, end);
      rest.remove_prefix(std::min(end + 1, rest.size()));
      while (element.starts_with(' ')) element.remove_prefix(1);
      const auto behind = std::min(element.find_first_of("; "), element.size());
      if (element.substr(0, behind) != type) continue;
      best = std::max(best, read_weight(element.substr(behind)));
    }
  }
  return best;
}

}  // namespace strata::http
