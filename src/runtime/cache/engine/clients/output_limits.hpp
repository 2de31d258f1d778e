// client-output-buffer-limit: limits for the pending output of a client that does not read it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace strata::runtime::cache {

struct output_limit {
  std::int64_t hard = 0;  ///< bytes; 0: no limit
  std::int64_t soft = 0;  ///< bytes that may be pending for `soft_s` seconds; 0: no limit
  std::int64_t soft_s = 0;
};

class output_limits {
 public:
  enum class kind : std::uint8_t { normal, replica, pubsub };

  [[nodiscard]] const output_limit& of(kind kind) const {
    return limits_[static_cast<std::size_t>(kind)];
  }
  /// Returns "normal 0 0 0 slave …", in the format of CONFIG GET.
  [[nodiscard]] std::string text() const;
  /// Sets the limits of the kinds that `text` names, all or none. Returns the fault in `text`, if
  /// any.
  [[nodiscard]] std::optional<std::string_view> set(std::string_view text);

 private:
  std::array<output_limit, 3> limits_ = {
      {{0, 0, 0}, {256 << 20, 64 << 20, 60}, {32 << 20, 8 << 20, 60}}};
};

}  // namespace strata::runtime::cache
