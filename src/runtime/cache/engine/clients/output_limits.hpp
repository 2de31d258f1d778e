// client-output-buffer-limit: how many bytes may wait for a client that does not read them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace strata::runtime::cache {

struct output_limit {
  std::int64_t hard = 0;  ///< bytes; 0: none
  std::int64_t soft = 0;  ///< bytes that may wait for `soft_s` seconds; 0: none
  std::int64_t soft_s = 0;
};

class output_limits {
 public:
  enum class kind : std::uint8_t { normal, replica, pubsub };

  [[nodiscard]] const output_limit& of(kind kind) const {
    return limits_[static_cast<std::size_t>(kind)];
  }
  /// "normal 0 0 0 slave …", as CONFIG GET says it.
  [[nodiscard]] std::string text() const;
  /// Sets those kinds that `text` names, all or none. Returns what is wrong with it, if anything.
  [[nodiscard]] std::optional<std::string_view> set(std::string_view text);

 private:
  std::array<output_limit, 3> limits_ = {
      {{0, 0, 0}, {256 << 20, 64 << 20, 60}, {32 << 20, 8 << 20, 60}}};
};

}  // namespace strata::runtime::cache
