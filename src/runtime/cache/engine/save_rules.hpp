// The rules for automatic snapshots: after some seconds, if a number of changes were made.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace strata::runtime::cache {

class save_rules {
 public:
  /// Parses "3600 1 300 100": pairs of seconds and changes. Returns nullopt for anything else.
  [[nodiscard]] static std::optional<save_rules> parse(std::string_view text);

  [[nodiscard]] bool empty() const { return rules_.empty(); }
  [[nodiscard]] bool are_met(std::int64_t seconds, std::uint64_t changes) const {
    return std::ranges::any_of(rules_, [&](const rule& each) {
      return seconds >= each.seconds && changes >= each.changes;
    });
  }

 private:
  struct rule {
    std::int64_t seconds;
    std::uint64_t changes;
  };
  std::vector<rule> rules_;
};

}  // namespace strata::runtime::cache
