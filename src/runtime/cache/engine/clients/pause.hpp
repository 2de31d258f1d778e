// CLIENT PAUSE: for a while clients' commands, or only those that write, are put off. When the
// pause is over, each client goes on with the command that was put off.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/cache/engine/clients/client.hpp"

namespace strata::runtime::cache {

class pause {
 public:
  enum class extent : std::uint8_t { none, writes, all };

  [[nodiscard]] bool is_on() const { return what_ != extent::none; }
  /// Of two pauses the longer time and the larger extent count.
  void begin(extent extent, std::int64_t end_ms);
  /// Lets all go on.
  void end();
  [[nodiscard]] bool is_over(std::int64_t now_ms) const { return is_on() && now_ms >= end_ms_; }
  [[nodiscard]] std::optional<std::int64_t> end_ms() const {
    return is_on() ? std::optional(end_ms_) : std::nullopt;
  }

  /// Whether this command of `client` has to wait.
  [[nodiscard]] bool holds(const client& client, const command& command) const;
  void postpone(client& client);
  void leave(client& gone);

 private:
  extent what_ = extent::none;
  std::int64_t end_ms_ = 0;
  std::vector<client*> postponed_;
};

}  // namespace strata::runtime::cache
