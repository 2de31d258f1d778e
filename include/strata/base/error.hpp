// What went wrong, kept as data until somebody has to read it.
//
// An `error` is made where the failure is seen (once, in the layer that made the call) and turned
// into a sentence only at the edge, by `describe()`. It owns its strings; it may be copied between
// threads. Making one allocates, which is fine: failures are not the fast path.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "strata/base/language.hpp"

namespace strata {

/// The kind of failure, stable enough for callers to branch on and for the control API to name.
enum class errc : std::uint8_t {
  invalid_argument,  ///< a value that can never be right
  malformed,         ///< bytes that do not follow their format
  not_found,
  already_exists,
  conflict,  ///< right in itself, but not in the present state
  permission_denied,
  limit_exceeded,  ///< a stated limit was reached
  no_space,        ///< the disk or a quota is full
  connection_closed,
  timed_out,
  canceled,
  not_supported,  ///< by this kernel, build or endpoint
  system,         ///< any other failure of the kernel; see `sys_errno`
};

struct error {
  errc code = errc::system;
  /// What was being done and to which value, to follow "cannot": `bind tcp://0.0.0.0:80`.
  std::string operation;
  /// The kernel's errno, or 0 when the kernel was not the one that refused.
  int sys_errno = 0;
  /// Why, when there is no errno that says it.
  std::string reason;
  /// What the reader can do about it; may be empty.
  std::string remedy;
  /// Where in the input, in bytes from its start, when the input was at fault.
  std::optional<std::size_t> offset;
};

/// An error of a system call: the code follows from `sys_errno`, which is positive. Where an errno
/// has one remedy whatever was being done (EMFILE, ENFILE), that stands in place of `remedy`.
[[nodiscard]] error system_error(int sys_errno, std::string operation, std::string remedy = {});

/// One sentence: what could not be done, why, and what to do.
[[nodiscard]] std::string describe(const error& failure);

/// The code as the control API spells it: `errc::not_found` is "not_found".
[[nodiscard]] std::string_view name_of(errc code);

}  // namespace strata
