// `result<T>`: a value or an `error`.
#pragma once

#include <expected>
#include <string>
#include <utility>

#include "strata/base/error.hpp"

namespace strata {

template <class T = void>
using result = std::expected<T, error>;

/// Shorthand for `return failure(errc::…, "do what to which value", "why", "what to do");`.
[[nodiscard]] inline std::unexpected<error> failure(errc code, std::string operation,
                                                    std::string reason = {},
                                                    std::string remedy = {}) {
  return std::unexpected(error{.code = code,
                               .operation = std::move(operation),
                               .reason = std::move(reason),
                               .remedy = std::move(remedy),
                               .offset = {}});
}

/// As `failure`, for a system call that set `sys_errno`.
[[nodiscard]] inline std::unexpected<error> system_failure(int sys_errno, std::string operation,
                                                           std::string remedy = {}) {
  return std::unexpected(system_error(sys_errno, std::move(operation), std::move(remedy)));
}

}  // namespace strata
