// Formatters that write values of the library: fmt::format("{}", mac). For std::format if the
// library has it, and for fmt if <fmt/format.h> was included before.
#pragma once

#include <string>
#include <version>

#include "strata/base/error.hpp"
#include "strata/base/mac_address.hpp"

namespace strata::base {

/// The text that both formatters write: `02:00:00:00:00:01`.
inline std::string formatted(const mac_address& address) { return address.text(); }
/// The sentence of `describe`.
inline std::string formatted(const error& failure) { return describe(failure); }
/// The code's name: `not_found`.
inline std::string formatted(errc code) { return std::string(name_of(code)); }

}  // namespace strata::base

#if defined(__cpp_lib_format)
#include <format>
#define STRATA_FORMATTER(type)                                                             \
  template <>                                                                              \
  struct std::formatter<type> : std::formatter<std::string> {                              \
    auto format(const type& value, std::format_context& context) const {                   \
      return std::formatter<std::string>::format(strata::base::formatted(value), context); \
    }                                                                                      \
  }
STRATA_FORMATTER(strata::mac_address);
STRATA_FORMATTER(strata::error);
STRATA_FORMATTER(strata::errc);
#undef STRATA_FORMATTER
#endif

#if defined(FMT_VERSION)
#define STRATA_FORMATTER(type)                                                             \
  template <>                                                                              \
  struct fmt::formatter<type> : fmt::formatter<std::string> {                              \
    template <class Context>                                                               \
    auto format(const type& value, Context& context) const {                               \
      return fmt::formatter<std::string>::format(strata::base::formatted(value), context); \
    }                                                                                      \
  }
STRATA_FORMATTER(strata::mac_address);
STRATA_FORMATTER(strata::error);
STRATA_FORMATTER(strata::errc);
#undef STRATA_FORMATTER
#endif
