// Where keys may be had that are not there: what a script fetches from elsewhere.
#pragma once

#include <cstdint>
#include <string_view>

namespace strata::runtime::cache {

class key_source {
 public:
  enum class answer : std::uint8_t {
    nothing,   ///< what is not here is nowhere
    fetching,  ///< `engine::tell_missing`, `fail_fetching` or a change of the key will follow
    busy,      ///< too many are being fetched
  };
  /// Asks for a key, unless it is being fetched already. Called while a command is executed.
  [[nodiscard]] virtual answer fetch(unsigned database, std::string_view key) = 0;
  /// A client has removed a key that is not there: what is being fetched may be what it was before.
  virtual void note_removed(unsigned database, std::string_view key) = 0;
  /// For how long a client waits, in milliseconds.
  [[nodiscard]] virtual std::int64_t patience_ms() const = 0;

 protected:
  ~key_source() = default;
};

}  // namespace strata::runtime::cache
