// Errors, kept as data until they are shown to a reader.
//
// An `error` is created where the failure occurs (once, in the layer that made the call) and
// becomes a sentence only at the edge, by `describe()`. It owns its strings and may be copied
// between threads. Creating one allocates, which is fine: failures are not the fast path.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "strata/base/language.hpp"

namespace strata {

/// The kind of failure; stable, so that callers can branch on it and the control API can name it.
enum class errc : std::uint8_t {
  invalid_argument,  ///< a value that is never valid
  malformed,         ///< bytes that do not follow their format
  not_found,
  already_exists,
  conflict,  ///< valid in itself, but not in the current state
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
  /// The operation and its value, to follow "cannot": `bind tcp://0.0.0.0:80`.
  std::string operation;
  /// The kernel's errno, or 0 if the failure is not the kernel's.
  int sys_errno = 0;
  /// The reason, if no errno expresses it.
  std::string reason;
  /// What the reader can do about it; may be empty.
  std::string remedy;
  /// The offset of the fault in the input, in bytes, if the input is at fault.
  std::optional<std::size_t> offset;
};

/// Returns the error of a system call: the code follows from `sys_errno`, which is positive. For an
/// errno that has one remedy whatever the operation (EMFILE, ENFILE), that remedy replaces
/// `remedy`.
[[nodiscard]] error system_error(int sys_errno, std::string operation, std::string remedy = {});

/// Returns one sentence: what failed, why, and what to do.
[[nodiscard]] std::string describe(const error& failure);

/// Returns the code as the control API spells it: `errc::not_found` is "not_found".
[[nodiscard]] std::string_view name_of(errc code);

}  // namespace strata
