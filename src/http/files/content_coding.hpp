// Which content coding a client prefers (RFC 9110 section 12.5.3).
#pragma once

#include <cstdint>
#include <string_view>

namespace strata::http {

enum class coding : std::uint8_t { identity, gzip, brotli };

struct coding_preference {
  bool takes_gzip = false;    ///< prefers it to no coding, or likes both equally
  bool takes_brotli = false;  ///< likewise
  bool prefers_gzip = false;  ///< prefers gzip to brotli

  [[nodiscard]] coding choose(bool has_gzip, bool has_brotli) const;
  /// Differs between any two preferences that could choose differently.
  [[nodiscard]] char letter() const;
};

/// `value` is that of Accept-Encoding; empty if the request has none.
[[nodiscard]] coding_preference read_accept_encoding(std::string_view value);

/// The weight of a list element (`;q=0.5`), in thousandths; 1000 if there is none, 0 if it is
/// malformed. `parameters` begins behind the element's name.
[[nodiscard]] int read_weight(std::string_view parameters);

}  // namespace strata::http
