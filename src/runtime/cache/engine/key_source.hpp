// A source of missing keys: a script that fetches them from elsewhere.
#pragma once

#include <cstdint>
#include <string_view>

namespace strata::runtime::cache {

class key_source {
 public:
  enum class answer : std::uint8_t {
    nothing,   ///< there is nowhere to fetch the key from
    fetching,  ///< `engine::report_missing`, `fail_fetching` or a change of the key will follow
    busy,      ///< too many keys are being fetched
  };
  /// Requests a key, unless it is already being fetched. Called while a command is executed.
  [[nodiscard]] virtual answer fetch(unsigned database, std::string_view key) = 0;
  /// Called when a client has removed a missing key: a value that is being fetched may be from
  /// before.
  virtual void note_removed(unsigned database, std::string_view key) = 0;
  /// How long a client waits, in milliseconds.
  [[nodiscard]] virtual std::int64_t timeout_ms() const = 0;

 protected:
  ~key_source() = default;
};

}  // namespace strata::runtime::cache
