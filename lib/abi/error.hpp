// Errors of the C ABI: a negative errno, and a sentence for strata_last_error().
#pragma once

#include "strata/base/error.hpp"

namespace strata::abi {

/// Stores the sentence for this thread; returns -errno.
int fail(const error& failure);
/// As `fail`, for an argument that is NULL.
int fail_missing(const char* text);
[[nodiscard]] const char* last_error();

}  // namespace strata::abi
