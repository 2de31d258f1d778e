#include "daemon/broker/refusal_log.hpp"

#include <fmt/format.h>

#include <iterator>

namespace strata::daemon {

std::vector<std::string> refusal_log::lines_for(std::uint32_t user, const std::string& text,
                                                clock::time_point now) {
  std::vector<std::string> lines;
  for (auto each = users_.begin(); each != users_.end();) {
    const auto& [who, before] = *each;
    if (now - before.began < window) {
      ++each;
      continue;
    }
    if (before.left_out != 0) {
      lines.push_back(
          fmt::format("{} more requests of user {} were refused", before.left_out, who));
    }
    each = users_.erase(each);
  }
  auto& of = users_.try_emplace(user, recent{.began = now}).first->second;
  if (of.written == most_lines) {
    ++of.left_out;
    return lines;
  }
  ++of.written;
  lines.push_back(of.written < most_lines
                      ? text
                      : fmt::format("{} (more of user {} are only counted for {} s)", text, user,
                                    window.count()));
  return lines;
}

}  // namespace strata::daemon
