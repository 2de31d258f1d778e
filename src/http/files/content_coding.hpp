// Which content coding a client prefers (RFC 9110 section 12.5.3).
#pragma once

#include <cstdint>
#include <string_view>

namespace strata::http {

enum class coding : std::uint8_t { identity, gzip, brotli };

struct coding_preference {
  bool takes_gzip = false;    ///< at least as gladly as no coding
  bool takes_brotli = false;  ///< the same
  bool prefers_gzip = false;  ///< to brotli

  [[nodiscard]] coding choose(bool has_gzip, bool has_brotli) const;
  /// Different for each two that could choose differently.
  [[nodiscard]] char letter() const;
};

/// `value` is Accept-Encoding's. Without one: empty.
[[nodiscard]] coding_preference read_accept_encoding(std::string_view value);

/// The weight behind a list's element (`;q=0.5`), in thousandths; 1000 where it says none, 0 when
/// it is malformed. `parameters` begins behind the element's name.
[[nodiscard]] int read_weight(std::string_view parameters);

}  // namespace strata::http
