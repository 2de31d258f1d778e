// Searches for specifications.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "strata/base/result.hpp"
#include "ynl/spec.hpp"

namespace strata::ynl {

/// Errors: not_found if there is no such file; malformed and others if it cannot be read, has more
/// than 1 MiB, or is no specification. Their texts are printable.
[[nodiscard]] result<spec> read_spec_file(const std::string& file);

/// Returns the family's specification: from `file`, unless that is empty; otherwise from
/// FAMILY.yaml in the folders of STRATA_YNL_PATH, then in strata's own folder, beside the program
/// or at its installation path, then in that of the kernel's tools. nullopt if there is none.
/// Errors: those of `read_spec_file`; malformed if it is another family's.
[[nodiscard]] result<std::optional<spec>> find_spec(const std::string& file,
                                                    std::string_view family);

}  // namespace strata::ynl
