// The one grammar for everything that listens or connects: `tcp://host:port`, `unix:///path`, …
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "strata/base/result.hpp"

namespace strata::net {

enum class scheme : std::uint8_t { tcp, udp, unix_stream };

struct scheme_row {
  std::string_view name;
  scheme value;
  bool has_path;  ///< `NAME:///path` instead of `NAME://host:port`
  std::string_view summary;
};

/// All schemes that this build knows.
[[nodiscard]] std::span<const scheme_row> schemes();

struct endpoint_url {
  scheme kind = scheme::tcp;
  std::string host;  ///< a name or an address, without brackets
  std::uint16_t port = 0;
  std::string path;

  /// As it was written, in normal form.
  [[nodiscard]] std::string text() const;
  bool operator==(const endpoint_url&) const = default;
};

/// Errors: invalid_argument, naming the URL, what is wrong and an example.
[[nodiscard]] result<endpoint_url> parse_endpoint(std::string_view text);

}  // namespace strata::net
